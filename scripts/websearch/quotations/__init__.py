"""Whether the quotations and numbers of a draft stand in the pages that it cites.

draft (what is cited, and from where) -> pages -> standing (quotations) and numbers -> check (the
command, its document and Markdown). search.commands and the servers come in by check.
"""
