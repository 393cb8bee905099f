"""Select and show the passages of pages that answer a question.

Units (sentences, items, rows) -> ranking -> selection (within a budget) -> excerpts. search/ and
reading/ call excerpts.py. This package does not use the store or the network.
"""
