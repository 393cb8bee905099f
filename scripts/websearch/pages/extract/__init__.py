"""From bytes to Markdown: the text of a page, its metadata and its date.

Knows no network. Sites, reading, search and the benchmarks come in.
"""
