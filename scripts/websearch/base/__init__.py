"""The HTTP client, calls, words and other helpers for all packages.

Imports only kit.py, and no other package.
"""
