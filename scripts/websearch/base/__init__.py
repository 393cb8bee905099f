"""The HTTP client, calls, words and other helpers for all packages.

It imports only kit.py, no other package.
"""
