"""The desk: web pages on which people search, read, check drafts and see the history."""
