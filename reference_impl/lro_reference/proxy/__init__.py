"""`lro proxy`: Large Result Offloading in front of an MCP server that knows nothing of it."""
