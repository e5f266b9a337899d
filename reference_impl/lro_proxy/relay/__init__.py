"""MCP messages between a client and one server or several."""
