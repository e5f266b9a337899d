"""The memory server: store, tools, MCP over stdio."""
