"""MCP, HTTP and the desk (the page for people): ways in beside the commands.

Only the commands and setup come in.
"""
