"""SQLite: answers, pages, their full text, the history. It does not know the engines.

Every package above may import it.
"""
