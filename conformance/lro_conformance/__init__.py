"""The conformance suite for Large Result Offloading: it certifies any MCP server over stdio."""
