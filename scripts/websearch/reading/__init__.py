"""From URLs to pages: read, endless lists, parts of a page, their document.

Called by the commands, ways_in/, check/ and search/.
"""
