"""The link to an offloaded file, for a client that reads it through the proxy."""

from __future__ import annotations

import os
from typing import Any

from lro_proxy.payload.file_facts import FileFacts

SCHEME = "lro:///"
MIME_TYPE = "application/jsonl"


def resource_link(path: str, file: FileFacts) -> dict[str, Any]:
    """The content block (since MCP 2025-06-18) that names a file as a resource."""
    name = os.path.basename(path)
    return {
        "type": "resource_link",
        "uri": f"{SCHEME}{name}",
        "name": name,
        "mimeType": MIME_TYPE,
        "size": file.size,
        "_meta": {"lro-spec/sha256": file.sha256},
    }
