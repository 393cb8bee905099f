"""Turn a URL into bytes: the address guard, robots.txt, encodings, bot walls.

It also reads through a browser, and reads local files and archived copies. Called by extract/,
sites/, reading/ and search/.
"""
