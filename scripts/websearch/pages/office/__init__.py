"""Read office files as pages: Word, Excel and PowerPoint, OpenDocument, and EPUB books.

read.py is the entry point. archive.py opens a file within limits. blocks.py builds elements for the
Markdown writer of HTML pages. The other modules each read one kind of file, or parts that several share.
"""
