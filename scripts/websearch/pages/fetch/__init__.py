"""Turn a URL into bytes: the address guard, robots.txt, encodings, bot walls.

Also a browser, local files and archived copies. Called by extract/, sites/, reading/ and search/.
"""
