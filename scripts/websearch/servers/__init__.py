"""The same as tools for MCP clients and as an HTTP API."""
