"""Provide the desk: web pages where people search, read, check drafts and see their history."""
