"""Provide the interfaces: the front door and its help, the terminal, MCP, HTTP and the desk.

The commands in scripts/ and machine/ call this package.
"""
