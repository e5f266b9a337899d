"""The client of fastmcp against a server: argv is its command, stdin the calls as JSON; prints the results."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    async with Client(StdioTransport(sys.argv[1], sys.argv[2:], env=dict(os.environ))) as client:
        await client.list_tools()
        made = [await client.call_tool_mcp(call["name"], call["arguments"]) for call in json.load(sys.stdin)]
    print(json.dumps([one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in made]))


asyncio.run(main())
