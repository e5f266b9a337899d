"""Answers to lines that are no message, which the SDK drops without a word.

A client that cuts a string in the middle of an emoji sends half of a surrogate pair; it must get an error, not wait
until its time limit.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self, cast

import mcp_types as types
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError


class AnsweredStream(ReadStream[SessionMessage | Exception]):
    """A stream of incoming messages without the unreadable ones, each of which has been answered with an error."""

    def __init__(self, incoming: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises what the stream raises at its end."""
        while isinstance(item := await self._incoming.receive(), Exception):
            if (reply := answer(item)) is not None:
                await self._outgoing.send(SessionMessage(reply))
        return item

    async def __anext__(self) -> SessionMessage | Exception:
        while isinstance(item := await self._incoming.__anext__(), Exception):
            if (reply := answer(item)) is not None:
                await self._outgoing.send(SessionMessage(reply))
        return item

    def __aiter__(self) -> Self:
        return self

    async def aclose(self) -> None:
        """Close the stream underneath."""
        await self._incoming.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def answer(problem: Exception) -> types.JSONRPCError | None:
    """The error for what could not be parsed; None for a blank line."""
    if not isinstance(problem, ValidationError):
        return None
    first = problem.errors(include_url=False)[0]
    message: Any = first["input"]
    code, said = types.INVALID_REQUEST, "this is not a JSON-RPC message"
    if isinstance(message, str):
        if not message.strip():
            return None
        code, said = types.PARSE_ERROR, first["msg"]
        try:
            message = json.loads(message)  # more lenient, so that the request's id can often be found
        except (ValueError, RecursionError):
            message = None
    identity = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
    known = identity if isinstance(identity, (str, int)) and not isinstance(identity, bool) else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=said))
