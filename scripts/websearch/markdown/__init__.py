"""What the program knows of Markdown: fences, headings, escapes, and the units of a page.

Pure functions on texts; every room above may call them.
"""
