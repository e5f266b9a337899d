"""The official client in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.support.proxying import ROOTS, SETTING


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": ROOTS, f"{SETTING}OUTPUT_DIR": str(folder), f"{SETTING}THRESHOLD_TOKENS": "500"}


def python_client(command: list[str], folder: Path, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # half a second, which whoever only collects the tests need not wait for
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def run() -> list[dict[str, Any]]:
        server = StdioServerParameters(command=command[0], args=command[1:], env=environment(folder))
        with open(os.devnull, "w") as silent:
            async with stdio_client(server, errlog=silent) as streams, ClientSession(*streams) as session:
                await session.initialize()
                await session.list_tools()
                made = [await session.call_tool(call["name"], call["arguments"]) for call in calls]
        return [result.model_dump(mode="json", by_alias=True, exclude_none=True) for result in made]

    return anyio.run(run)
