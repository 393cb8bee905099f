"""From questions to a document of sources: plan, ask, rank, read, show.

commands.py has the tables and run_* of web_search. Commands, servers and setup come in.
"""
