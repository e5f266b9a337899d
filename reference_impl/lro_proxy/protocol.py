"""Differences between MCP versions.

Since version 2026-07-28 each request states its version and the client's capabilities. Messages of that version or a
later one are called modern.
"""

from __future__ import annotations

from typing import Any, cast

from lro_proxy.tools import sampling
from lro_proxy.wire.jsonrpc import Message, members, parse_lossless, serialise
from lro_reference import delegation

_META_PREFIX = "io.modelcontextprotocol/"
_CAPABILITIES = f"{_META_PREFIX}clientCapabilities"
OPENING_METHODS = frozenset(("initialize", "server/discover"))
"""Methods whose results state the server's capabilities."""
TOOL_RESULT_METHODS = frozenset(("tools/call", "tasks/result", "tasks/get"))
"""Methods whose results may contain the result of a tool."""


def announce_proxy(message: Message, line: bytes | bytearray) -> bytes | bytearray:
    """Announce the proxy among the client's capabilities in a request, and return the new line.

    It is announced in `initialize`. Since 2026-07-28 it is also announced in requests of the methods in
    `TOOL_RESULT_METHODS`, provided that they state capabilities. The line of any other message is returned unchanged.
    """
    method = message.get("method")
    modern = method in TOOL_RESULT_METHODS and isinstance(_meta(message).get(_CAPABILITIES), dict)
    if method != "initialize" and not modern:
        return line
    lossless_message = parse_lossless(line)
    params = lossless_message.get("params")
    if not isinstance(params, dict):
        return line
    params = cast("Message", params)
    delegation.announce(params["_meta"] if modern else params, _CAPABILITIES if modern else "capabilities")
    return serialise(lossless_message)


def client_name(message: Message) -> str:
    """The client's name, or an empty text if the message does not state it.

    It is stated by `initialize` and, since 2026-07-28, by every request.
    """
    params = members(message.get("params"))
    info = params.get("clientInfo", _meta(message).get(f"{_META_PREFIX}clientInfo"))
    name = members(info).get("name")
    return name if isinstance(name, str) else ""


def is_announced(message: Message) -> bool:
    """True if a request says that another proxy, which is nearer to the client, offloads results."""
    params = members(message.get("params"))
    modern = members(_meta(message).get(_CAPABILITIES))
    return any(map(delegation.states_proxy, (members(params.get("capabilities")), modern)))


def message_version(message: Message) -> str | None:
    """The protocol version in the ``_meta`` of a message, or None if it is absent, as it is before 2026-07-28."""
    version = _meta(message).get(f"{_META_PREFIX}protocolVersion")
    return version if isinstance(version, str) else None


def envelope(message: Message) -> Message:
    """The parameters that every request must have since 2026-07-28, copied from a message of the client.

    They are the members of ``_meta`` that MCP defines. Before 2026-07-28 the returned ``_meta`` is empty.
    """
    return {"_meta": {key: value for key, value in _meta(message).items() if key.startswith(_META_PREFIX)}}


def supports_sampling(message: Message) -> bool:
    """True if a modern message states that the client supports sampling."""
    return "sampling" in members(_meta(message).get(_CAPABILITIES))


def complete_result(result: Message) -> Message:
    """The result, marked as complete: MCP 2026-07-28 requires a ``resultType`` in every result."""
    return {"resultType": "complete", **result}


def tool_list_result(tools: list[Any]) -> Message:
    """A result of `tools/list` in the form of MCP 2026-07-28."""
    return uncached_result({"tools": tools})


def uncached_result(result: Message) -> Message:
    """A complete result in the form of MCP 2026-07-28, with members that forbid clients to cache it."""
    return complete_result({**result, "ttlMs": 0, "cacheScope": "private"})


def summary_request(text: str, state: str) -> Message:
    """A result that asks the client to have its model summarise *text*.

    The client then repeats the call, with the summary and with *state*.
    """
    input_request = {"method": "sampling/createMessage", "params": sampling.request(text)}
    return {"resultType": "input_required", "inputRequests": {"summary": input_request}, "requestState": state}


def summary_response(params: Message) -> Message:
    """The summary by the client's model, from the parameters of the repeated call, in the form of a response."""
    return {"result": members(params.get("inputResponses")).get("summary")}


def _meta(message: Message) -> Message:
    return members(members(message.get("params")).get("_meta"))
