"""Turn a URL into bytes: the address guard, robots.txt, encodings, bot walls.

Also renders pages in a browser, and reads local files and archived copies. Called by extract/,
sites/, reading/ and search/.
"""
