"""Select the passages of pages that answer a question, and show them.

Units (sentences, items, rows) -> ranking -> selection (within a budget) -> excerpts. search/ and
reading/ call excerpts.py. Uses neither store nor network.
"""
