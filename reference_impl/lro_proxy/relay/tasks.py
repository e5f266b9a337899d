"""MCP tasks, which deliver the result of a tool later: the calls that create them, and the messages with results.

Under MCP 2025-11-25 the answer to `tasks/result` is the tool's result itself. In the extension of 2026-07-28, the
answer to `tasks/get` and the notification `notifications/tasks` describe the task, with the result as a member.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import orjson

from lro_proxy.relay.pending import Request
from lro_proxy.wire.jsonrpc import Message, members, parse_lossless, raw_member, serialise

NOTIFICATION = "notifications/tasks"
_MAX_TASKS = 1000
Line = bytes | bytearray


class Tasks:
    """The calls that have created tasks, by the task's id. Only the latest calls are remembered."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, Request] = OrderedDict()

    def remember(self, call: Request, result: Message) -> None:
        """Remember a call if its result is a new task; *result* is the parsed result."""
        id = members(result.get("task")).get("taskId", result.get("taskId"))
        if isinstance(id, str):
            self._calls[id] = call
            if len(self._calls) > _MAX_TASKS:
                self._calls.popitem(last=False)

    def attribute(self, request: Request) -> None:
        """Set the tool and the arguments of a request about a task to those of the call that created the task.

        If that call is unknown, the request is not changed.
        """
        call = self._calls.get(request.task or "")
        if call is not None:
            request.tool, request.arguments = call.tool, call.arguments


def rewrite_result(line: Line, member: str, rewrite: Callable[[bytes], bytes | None]) -> bytes | None:
    """The line of a message about a completed task, with the result rewritten; None if nothing is to be changed.

    The task is described by *member* of the message. *rewrite* gets a line with the result alone, as if that line were
    the answer to a call. Raises the same errors as `raw_member`.
    """
    message = parse_lossless(line)
    task = members(message.get(member))
    if task.get("status") != "completed" or not isinstance(task.get("result"), dict):
        return None
    result = raw_member(raw_member(line, member).encode(), "result")
    rewritten = rewrite(f'{{"result":{result}}}'.encode())
    if rewritten is None:
        return None
    task["result"] = orjson.Fragment(raw_member(rewritten, "result"))
    return serialise(message)
