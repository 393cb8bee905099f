"""One module for each engine: its request and its answer.

The table in apis names them; whoever asks an engine loads its module by that name.
"""
