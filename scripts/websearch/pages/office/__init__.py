"""Office files as pages: Word, Excel and PowerPoint files, OpenDocument files, EPUB books.

read.py is the entry point. archive.py opens the file within limits, blocks.py builds the elements
from which the Markdown of HTML pages is written; each other module reads one kind of file.
"""
