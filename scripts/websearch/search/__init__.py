"""From questions to a document of sources: plan, ask, rank, read, show.

commands.py has the tables and run_* of web_search. Called by the commands, ways_in/ and machine/.
"""
