"""Searching: plan -> ask -> rank -> read -> show, one pipeline for a search and for a brief.

commands.py holds the tables of the commands and their run_* functions; plan.py makes Questions of
parameters, ask.py Answers of Questions, rank.py Sources of Answers; read.py reads their pages, and
show.py makes the document.
"""
