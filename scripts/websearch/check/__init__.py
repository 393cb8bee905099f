"""Whether the quotations and numbers of a draft are in the pages that it cites.

draft (citations and their sources) -> pages -> quotations, numbers, rounded and computed -> check
(the command, its document and Markdown). search.commands and the servers call check.
"""
