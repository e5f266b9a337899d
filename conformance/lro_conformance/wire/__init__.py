"""A server process and the raw JSON-RPC lines that are exchanged with it.

A `workspace.Workspace` creates `server.ServerProcess` objects and working folders. When it is closed, it ends the
servers and removes the folders. Import from the modules of this package, not from the package itself. The modules
`jsonrpc`, `reply` and `transcript` start no processes.
"""
