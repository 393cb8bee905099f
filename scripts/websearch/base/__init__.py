"""Documents and errors, the command line, the HTTP client, and texts that every room needs.

The three single files carry copies of its blocks. Imports nothing of the package.
"""
