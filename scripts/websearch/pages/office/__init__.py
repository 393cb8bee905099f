"""Office files as pages: Word, Excel and PowerPoint files, OpenDocument files, EPUB books.

read.py is the way in. archive.py opens the file within limits, blocks.py builds the elements that
the Markdown of HTML pages is written from; each other module reads one kind of file.
"""
