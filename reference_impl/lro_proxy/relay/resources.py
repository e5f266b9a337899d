"""Offloaded files as MCP resources, for clients that cannot read the proxy's disk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, BinaryIO
from urllib.parse import unquote

from lro_proxy.payload.link import MIME_TYPE, SCHEME
from lro_proxy.tools.access import OffloadedFiles
from lro_proxy.tools.limits import Refused
from lro_proxy.wire.jsonrpc import Message, members

_LINES = re.compile(r"lines=([1-9][0-9]{0,14})-([1-9][0-9]{0,14})?")
TEMPLATE: Mapping[str, Any] = {
    "uriTemplate": f"{SCHEME}{{name}}{{?lines}}",
    "name": "offloaded result",
    "description": "A large result as JSON lines; lines=2-21 are its first twenty records, line 1 is a header.",
    "mimeType": MIME_TYPE,
}


class OffloadedResources:
    """The files that this process has offloaded, as resources."""

    def __init__(self, files: OffloadedFiles[Any]) -> None:
        self._files = files
        self.server_has_none = False
        """True if the server has no resources. The proxy then answers requests for the lists."""

    def handles(self, message: Message) -> bool:
        """True if a request is for these resources."""
        method = message.get("method")
        if method == "resources/read":
            uri = members(message.get("params")).get("uri")
            return isinstance(uri, str) and uri.startswith(SCHEME)
        return self.server_has_none and method in ("resources/list", "resources/templates/list")

    def result(self, message: Message) -> Message:
        """The result of a request for which `handles` is true. Raises `Refused`."""
        if message["method"] == "resources/list":
            return {"resources": []}
        if message["method"] == "resources/templates/list":
            return {"resourceTemplates": [dict(TEMPLATE)]}
        uri: str = message["params"]["uri"]
        name, _, query = uri.removeprefix(SCHEME).partition("?")
        found = _LINES.fullmatch(query)
        if query and found is None:
            raise Refused(f"{query} is not a range: use lines=FIRST-LAST, where line 1 is the header")
        with self._files.open(unquote(name)) as (_, file):
            text = file.read() if found is None else _lines(file, int(found[1]), found[2])
        return {"contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": text.decode()}]}

    def advertise(self, result: Message) -> bool:
        """Add the capability `resources` if it is missing; returns True if it was added."""
        capabilities = result.get("capabilities")
        if not isinstance(capabilities, dict) or "resources" in capabilities:
            return False
        capabilities["resources"] = {}
        self.server_has_none = True
        return True


def _lines(file: BinaryIO, first: int, last: str | None) -> bytes:
    return b"".join(islice(file, first - 1, int(last) if last else None))
