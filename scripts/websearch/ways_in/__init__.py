"""Interfaces: the front door and its help, the terminal, MCP, HTTP and the desk.

Called by the commands in scripts/ and by machine/.
"""
