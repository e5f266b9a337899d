"""What a line answers to a request: its result and its error."""

from __future__ import annotations

from typing import Any, cast

from lro_conformance.wire import jsonrpc


def answer(raw: bytes, id: int) -> tuple[Any, Any]:
    """The result and the error that a line holds for a request; of a batch, of the response with its id.

    Both are None where the line holds neither.
    """
    value: Any = jsonrpc.parse(raw).value
    entries = cast("list[Any]", value) if isinstance(value, list) else [value]
    found = [m for e in entries if isinstance(e, dict) and jsonrpc.shape(m := cast("dict[str, Any]", e)) == "response"]
    own = next((m for m in found if str(m.get("id")) == str(id)), found[0] if found else {})
    return own.get("result"), own.get("error")
