"""Since protocol 2026-07-28 there is no handshake: each request tells the version and what the client is able to do."""

from __future__ import annotations

from typing import Any, cast

from lro_reference import proxy_hint
from lro_reference.extraction import sampling
from lro_reference.proxy.messages import Message, exactly, members, written

_OURS = "io.modelcontextprotocol/"
OPENINGS = frozenset(("initialize", "server/discover"))
"""By which a server is asked for what it is able to do."""


def introduced(line: bytes | bytearray) -> bytes | bytearray:
    """A line with `initialize` that announces the proxy to the server; as it came where it is none such."""
    message = exactly(line)
    params = members(message).get("params")
    if not isinstance(params, dict):
        return line
    proxy_hint.announce(cast("Message", params))
    return written(message)


def modern(message: Message) -> str | None:
    """The protocol version that a message itself tells, as it does since 2026-07-28."""
    version = _meta(message).get(f"{_OURS}protocolVersion")
    return version if isinstance(version, str) else None


def envelope(message: Message) -> Message:
    """What each request of the client's has beside its own parameters; empty before 2026-07-28."""
    return {"_meta": {key: value for key, value in _meta(message).items() if key.startswith(_OURS)}}


def lends_model(message: Message) -> bool:
    """Whether such a message tells that the client lends its language model."""
    return "sampling" in members(_meta(message).get(f"{_OURS}clientCapabilities"))


def complete(result: Message) -> Message:
    """A result as it is answered since then."""
    return {"resultType": "complete", **result}


def listed(tools: list[Any]) -> Message:
    """Such a result of `tools/list`, which nobody keeps."""
    return complete({"tools": tools, "ttlMs": 0, "cacheScope": "private"})


def wanting_summary(text: str, state: str) -> Message:
    """Such a result that is none yet: the client is to ask its model, and to call again with what that says."""
    asked = {"method": "sampling/createMessage", "params": sampling.request(text)}
    return {"resultType": "input_required", "inputRequests": {"summary": asked}, "requestState": state}


def summary_in(params: Message) -> Message:
    """What the model has said, in the parameters of such a call, like an answer to a request."""
    return {"result": members(params.get("inputResponses")).get("summary")}


def _meta(message: Message) -> Message:
    return members(members(message.get("params")).get("_meta"))
