"""SQLite: answers, pages, their full text, the history. Knows no engine.

Every room above comes in.
"""
