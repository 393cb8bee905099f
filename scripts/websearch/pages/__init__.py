"""From an address or bytes to a page: its Markdown, title and dates.

fetch/ gets the bytes, sites/ asks the API of a site, extract/, office/ and pdf/ read the bytes.
Reading comes in; nothing here knows of searches.
"""
