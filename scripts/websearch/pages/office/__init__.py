"""Read office files as pages: Word, Excel and PowerPoint, OpenDocument, and EPUB books.

read.py is the entry point. archive.py opens a file within limits. blocks.py builds elements for the
Markdown writer of HTML pages. Each other module reads one kind of file or parts of several kinds.
"""
