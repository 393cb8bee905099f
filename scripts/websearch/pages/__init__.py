"""Turn a URL or bytes into a page: its Markdown, title and dates.

fetch/ gets the bytes, sites/ calls a site's API, and extract/, office/ and pdf/ read the bytes.
Called by reading/; independent of searches.
"""
