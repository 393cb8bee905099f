"""Check a draft's quotations and numbers against the pages that it cites.

draft (citations and their sources) -> pages -> quotations, numbers, rounded and computed -> check
(the command, its document and Markdown), which search.commands and ways_in/ call.
"""
