"""Wrappers around the SDK's streams, by which invalid requests and the last requests before the end are answered, too.

The SDK silently drops a line that is not a valid message: a client that cuts a string in the middle of an emoji sends
an unpaired surrogate, and would wait until its time limit. And when stdin ends, the SDK cancels calls in progress: a
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
"""Maximum time for calls in progress to end after stdin has ended.

Memory tools take milliseconds; a slow query of an offloaded file may take longer, and then gets no answer.
"""


class Outgoing(WriteStream[SessionMessage]):
    """The stream to the client; it tracks the requests that are not answered yet."""

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream
        self._pending: set[types.RequestId] = set()
        self._settled = asyncio.Event()

    def expect(self, request: types.RequestId) -> None:
        """Track a request."""
        self._pending.add(request)

    def forget(self, request: object) -> None:
        """Stop tracking a request, which was answered or cancelled."""
        self._pending = {waiting for waiting in self._pending if waiting != request}
        self._settled.set()

    async def settle(self) -> None:
        """Wait until every request has been answered, for a limited time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                while self._pending:
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
    """The stream from the client, without invalid lines, which are answered with errors.

    It ends only after every request has been answered or cancelled, or `_GRACE_S` after the end of stdin.
    """

    def __init__(self, stream: ReadStream[SessionMessage | Exception], outgoing: Outgoing) -> None:
        self._stream = stream
        self._outgoing = outgoing

    async def receive(self) -> SessionMessage | Exception:
        """The next message. At the end it raises the exception of the stream underneath."""
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
            if (reply := error_for(item)) is not None:
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


def error_for(problem: Exception) -> types.JSONRPCError | None:
    """The JSON-RPC error for a line that is not a valid message; None for a blank line, and for any other problem."""
    if not isinstance(problem, ValidationError):
        return None
    errors = problem.errors(include_url=False)
    if errors[0]["type"] == "json_invalid":
        line = str(errors[0]["input"])
        if not line.strip():
            return None
        code, reason = types.PARSE_ERROR, errors[0]["msg"]
        try:
            message: Any = json.loads(line)  # this parser is more lenient, which often recovers the request's id
        except (ValueError, RecursionError):
            message = None
    else:
        code, reason = types.INVALID_REQUEST, "this is not a JSON-RPC message"
        message = next((e["input"] for e in errors if e["type"] == "missing" and len(e["loc"]) <= 2), None)
    identity = cast("dict[str, Any]", message).get("id") if isinstance(message, dict) else None
    request_id = identity if isinstance(identity, (str, int)) and not isinstance(identity, bool) else None
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=reason))
