"""A server over HTTP on the official SDK: `python rows_over_http.py PORT`."""

import sys
from typing import Any

from mcp.server.mcpserver import MCPServer

server = MCPServer("rows")


@server.tool()
def rows(n: int) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"row {i}"} for i in range(n)]


server.run(transport="streamable-http", port=int(sys.argv[1]))
