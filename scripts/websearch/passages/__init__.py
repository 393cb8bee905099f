"""Passages: which parts of the pages of a question answer it, and how they are shown.

units (a page as sentences, items, rows) -> ranking -> selection (within a room) -> excerpts.
search/ and the reading of pages come in through excerpts.py; it knows no store and no network.
"""
