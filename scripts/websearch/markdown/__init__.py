"""Markdown as text: fences, headings, escapes and the units of a page.

Pure functions on strings, for all packages.
"""
