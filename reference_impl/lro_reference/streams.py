"""What the SDK leaves open at the two ends of a connection, so that every request is answered once.

A line that is no message is dropped there without a word: a client that cuts a string in the middle of an emoji sends
half of a surrogate pair, and would wait until its time limit. And when stdin ends, calls in progress are cancelled: a
script that pipes its requests in would miss the last answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self, cast

import anyio
import mcp_types as types
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_CANCELLED = "notifications/cancelled"
_GRACE_S = 5
"""How long the end of stdin waits for calls in progress; each takes milliseconds."""


class Outgoing(WriteStream[SessionMessage]):
    """The stream to the client; it knows which requests still wait for an answer."""

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream
        self._waiting: set[types.RequestId] = set()
        self._settled = asyncio.Event()

    def expect(self, request: types.RequestId) -> None:
        """Note that a request has come in."""
        self._waiting.add(request)

    def forget(self, request: object) -> None:
        """Note that a request was answered, or cancelled and will not be."""
        self._waiting = {waiting for waiting in self._waiting if waiting != request}
        self._settled.set()

    async def settle(self) -> None:
        """Wait until everything has been answered, for a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                while self._waiting:
                    self._settled.clear()
                    await self._settled.wait()

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        await self._stream.send(item)
        if isinstance(item.message, (types.JSONRPCResponse, types.JSONRPCError)) and item.message.id is not None:
            self.forget(item.message.id)

    async def aclose(self) -> None:
        """Close the stream underneath."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Incoming(ReadStream[SessionMessage | Exception]):
    """The stream from the client: without the unreadable lines, and ending only when all is answered."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], outgoing: Outgoing) -> None:
        self._stream = stream
        self._outgoing = outgoing

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises what the stream raises at its end."""
        return await self._next(self._stream.receive)

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._next(self._stream.__anext__)

    async def _next(self, read: Callable[[], Awaitable[SessionMessage | Exception]]) -> SessionMessage:
        while True:
            try:
                item = await read()
            except (StopAsyncIteration, anyio.EndOfStream):
                await self._outgoing.settle()
                raise
            if not isinstance(item, Exception):
                if isinstance(item.message, types.JSONRPCRequest):
                    self._outgoing.expect(item.message.id)
                elif isinstance(item.message, types.JSONRPCNotification) and item.message.method == _CANCELLED:
                    self._outgoing.forget((item.message.params or {}).get("requestId"))
                return item
            if (reply := answer(item)) is not None:
                await self._outgoing.send(SessionMessage(reply))

    def __aiter__(self) -> Self:
        return self

    async def aclose(self) -> None:
        """Close the stream underneath."""
        await self._stream.aclose()

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
    errors = problem.errors(include_url=False)
    if errors[0]["type"] == "json_invalid":
        line = str(errors[0]["input"])
        if not line.strip():
            return None
        code, said = types.PARSE_ERROR, errors[0]["msg"]
        try:
            message: Any = json.loads(line)  # more lenient, so that the request's id can often be found
        except (ValueError, RecursionError):
            message = None
    else:
        code, said = types.INVALID_REQUEST, "this is not a JSON-RPC message"
        message = next((e["input"] for e in errors if e["type"] == "missing" and len(e["loc"]) <= 2), None)
    identity = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
    known = identity if isinstance(identity, (str, int)) and not isinstance(identity, bool) else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=said))
