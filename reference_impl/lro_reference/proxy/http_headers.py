"""What requests to a server over HTTP say in their headers, since protocol 2026-07-28 also of their messages."""

from __future__ import annotations

import base64
import re

import httpx2

from lro_reference.proxy.eras import modern
from lro_reference.proxy.messages import Message

SESSION, VERSION, LAST_EVENT = "Mcp-Session-Id", "Mcp-Protocol-Version", "Last-Event-ID"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""By method: the parameter that a header repeats."""
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?\Z")


def repeated(message: Message) -> dict[str, str]:
    """The headers that repeat what a message tells by itself."""
    version = modern(message)
    if version is None:
        return {}
    method = str(message.get("method"))
    named = message["params"].get(_NAMED.get(method, ""))
    return {
        VERSION: version,
        "Mcp-Method": method,
        **({"Mcp-Name": _header(named)} if isinstance(named, str) else {}),
    }


def kind_of(response: httpx2.Response) -> str:
    """The media type of an answer."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """What makes two addresses those of one server."""
    return url.scheme, url.host, url.port


def _header(value: str) -> str:
    """A text as a header's value."""
    if _PLAIN.match(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
