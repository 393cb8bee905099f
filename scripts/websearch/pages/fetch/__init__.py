"""From an address to bytes: which addresses are allowed, robots.txt, character sets, walls.

A browser, local files and archived copies, too. Extraction, sites, reading and search come in.
"""
