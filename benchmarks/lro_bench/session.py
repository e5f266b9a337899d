"""A conversation with the benchmark's MCP server: the process, its tools, and their results as texts."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from lro_bench.agents import Call
from lro_bench.server import CONVERSATION_KEY
from lro_conformance.errors import EXIT_NO_VERDICT, UsageError
from lro_conformance.wire.reply import Reply
from lro_conformance.wire.server import Limits, ServerProcess

_MAX_OPEN_CALLS = 64
"""Maximum number of calls that wait for an answer at the same time."""


class SessionError(UsageError):
    """The server does not start, or does not answer."""

    exit_code = EXIT_NO_VERDICT


class Session:
    """A started server of a condition; a context manager."""

    def __init__(self, condition: str, n: int) -> None:
        argv = server_command(condition, n)
        self._server = ServerProcess(argv, limits=Limits(request_timeout_s=120, start_timeout_s=120))
        self.tools: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        self._server.start()
        _result_of(self._server.initialize())
        self.tools, reply = self._server.list_tools()
        _result_of(reply)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def call(self, calls: Sequence[Call], conversation: str) -> list[str]:
        """Make calls at the same time, and return the texts of their results, in the order of the calls.

        An error of a tool has a text, too. Raises `SessionError` if the server does not answer.
        """
        texts: list[str] = []
        for first in range(0, len(calls), _MAX_OPEN_CALLS):
            request_ids = [
                self._server.send("tools/call", _params(call, conversation))
                for call in calls[first : first + _MAX_OPEN_CALLS]
            ]
            texts += [text_of(_result_of(self._server.wait(id))) for id in request_ids]
        self._server.transcript.cut_answers()
        return texts


def server_command(condition: str, n: int) -> list[str]:
    """The command that starts the server of a condition."""
    return [sys.executable, "-m", "lro_bench.server", condition, str(n)]


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a result: its text blocks, one after the other."""
    return "".join(block.get("text", "") for block in result.get("content", ()))


def tool_text(tool: Mapping[str, Any]) -> str:
    """A tool's entry in the form in which its tokens are counted: compact JSON."""
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))


def _params(call: Call, conversation: str) -> dict[str, Any]:
    return {"name": call.tool, "arguments": dict(call.arguments), "_meta": {CONVERSATION_KEY: conversation}}


def _result_of(reply: Reply) -> dict[str, Any]:
    if not reply.ok:
        raise SessionError(f"the benchmark's server gave no result: {reply.failure or reply.error}")
    return reply.result
