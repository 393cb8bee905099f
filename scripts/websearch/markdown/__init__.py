"""Process Markdown text: fences, headings, escapes and the units of a page.

The functions are pure, work on strings and serve all packages.
"""
