"""Sites that are read by their own data instead of their HTML, a module for each.

Only reading comes in.
"""
