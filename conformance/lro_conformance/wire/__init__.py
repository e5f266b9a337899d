"""A server process and the raw JSON-RPC lines that are exchanged with it.

A `workspace.Workspace` creates `server.ServerProcess` objects and working folders, and ensures that none of them
outlives it. Import from the modules; `jsonrpc`, `reply` and `transcript` start no process.
"""
