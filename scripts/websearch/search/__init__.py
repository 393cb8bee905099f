"""Turn questions into a document of sources: plan, ask, rank, read, show (pipeline.py).

commands.py has the command tables and run_* functions of web_search; it imports the pipeline at the
first search, so --help starts quickly. Callers: the scripts, ways_in/ and machine/.
"""
