"""Turn bytes into Markdown: the text of a page, its metadata and its date.

Uses no network. Called by sites/, reading/, search/ and the benchmarks.
"""
