"""A server process and the raw JSON-RPC lines that go in and come out of it.

A `workspace.Workspace` makes `server.ServerProcess` objects and working folders, and sees to it that none of them
outlives it. Import from the modules: `jsonrpc`, `reply` and `transcript` start nothing.
"""
