"""One module per engine, with its request and its response.

table.py lists the modules; callers load an engine's module by its name there.
"""
