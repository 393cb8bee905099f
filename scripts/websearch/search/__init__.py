"""Turn questions into a document of sources: plan, ask, rank, read, show.

commands.py has the command tables and run_* functions of web_search. Callers: the scripts, ways_in/
and machine/.
"""
