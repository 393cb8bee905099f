"""From URLs to pages: single pages, endless lists, parts of a page, and their documents.

Called by the commands, ways_in/, check/ and search/.
"""
