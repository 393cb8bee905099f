"""Turn a URL or bytes into a page: its Markdown, title and dates.

fetch/ gets the bytes, sites/ asks the API of a site, extract/, office/ and pdf/ read the bytes.
Called by reading/; independent of searches.
"""
