"""Whether the quotations and numbers of a draft are in the pages that it cites.

draft (what is cited, and from where) -> pages -> standing (quotations), numbers and computed ->
check (the command, its document and Markdown). search.commands and the servers come in by check.
"""
