"""One module per engine, with its request and its answer.

table.py names the modules; callers load an engine's module by that name.
"""
