"""From addresses to pages: read, lists without end, parts of a page, their document.

Commands, servers, quotations and search come in.
"""
