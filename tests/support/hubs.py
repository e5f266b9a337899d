"""A proxy before several servers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.proxying import SCRIPTED, SETTING, Client, started


@contextmanager
def hub(folder: Path, *options: str, **servers: Any) -> Iterator[Client]:
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    command = [sys.executable, "-m", "lro_proxy", "--config", str(config), *options]
    settings = {f"{SETTING}OUTPUT_DIR": str(folder / "out"), f"{SETTING}THRESHOLD_TOKENS": "200"}
    with started(command, subprocess.DEVNULL, **settings) as client:
        result = client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities={}))["result"]
        assert set(result["capabilities"]["experimental"]) == {"mine", "lro"}
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield client


def entry(*more: str, **keys: Any) -> dict[str, Any]:
    return {"command": SCRIPTED[0], "args": [*SCRIPTED[1:], *more], **keys}
