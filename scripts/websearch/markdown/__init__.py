"""Markdown as text: fences, headings, escapes and the units of a page.

Pure functions on strings; every package above may call them.
"""
