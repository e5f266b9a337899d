"""A small MCP memory server that implements every requirement of Large Result Offloading."""
