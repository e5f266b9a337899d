"""Weighs a server: starts the server, lists its tools, calls some of them, and weighs each result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from lro_bench.tokens import count
from lro_bench.weigh.calls import ToolCall, read_only_calls
from lro_bench.weigh.measure import THRESHOLD, Weight, compact, text_blocks, weigh_result
from lro_conformance.report.sanitize import one_line
from lro_conformance.version import version
from lro_conformance.wire.reaper import Reaper
from lro_conformance.wire.reply import Reply
from lro_conformance.wire.server import Limits, ServerProcess, as_object
from lro_proxy.relay.output_schemas import widen_tools

FORMAT = "lro-weights/1"
MAX_REPLY_BYTES = 64 << 20
MAX_GROWTH = 0.1
"""If a result has grown by a larger share than this, `lro weigh --against` fails."""


@dataclass(frozen=True, slots=True)
class Row:
    """A call with its weight, or the reason why there is none."""

    tool: str
    arguments: Mapping[str, Any]
    title: str
    weight: Weight | None
    reason: str = ""

    @property
    def key(self) -> str:
        """Key by which the same call is found in another report."""
        return f"{self.tool} {compact(self.arguments)}"


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools that a server lists."""

    count: int
    tokens: int
    """Tokens of tools/list by o200k."""
    tokens_proxied: int
    """Tokens of tools/list after `lro proxy` has widened the output schemas."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a server."""

    server: str
    """The name by which the server introduces itself. Empty if it has none."""
    version: str
    command: tuple[str, ...]
    tools: ToolList | None
    """None if the server did not list its tools."""
    threshold: int
    rows: tuple[Row, ...]
    failure: str = ""
    """Reason why nothing could be weighed. Empty if calls were possible."""

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON (schemas/weights.schema.json)."""
        return {
            "format": FORMAT,
            "suite": {"name": "lro-spec", "version": version()},
            "server": {"name": self.server or None, "version": self.version or None, "command": list(self.command)},
            "threshold_tokens": self.threshold,
            "tools": None if self.tools is None else asdict(self.tools),
            "failure": self.failure,
            "calls": [
                {
                    "tool": row.tool,
                    "title": row.title,
                    "arguments": dict(row.arguments),
                    "weight": None if row.weight is None else asdict(row.weight),
                    "reason": row.reason,
                }
                for row in self.rows
            ],
        }


def weigh(
    command: Sequence[str],
    calls: Sequence[ToolCall] | None,
    *,
    timeout_s: float = 30.0,
    threshold: int = THRESHOLD,
    env: Mapping[str, str | None] | None = None,
    cwd: str | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> Weights:
    """Weigh the results of *calls*. The default is one call of each read-only tool that needs no arguments.

    If a call fails, gets no answer in time, or gets too large an answer, its row has a reason instead of a weight. If
    the server gave no answer, it is started again before the next call.
    """
    limits = Limits(request_timeout_s=timeout_s, start_timeout_s=max(timeout_s, 60.0), max_line_bytes=MAX_REPLY_BYTES)
    reaper = Reaper()  # ends the server if this process is killed

    def start() -> tuple[ServerProcess, str]:
        server = ServerProcess(command, limits=limits, env=env, cwd=cwd, watcher=reaper)
        failure = server.start()
        reply = None if failure else server.initialize()
        if reply is not None and not reply.ok:
            return server, _reason(reply)
        return server, "" if failure is None else str(failure.detail)

    server, failure = start()
    try:
        tools: list[dict[str, Any]] = []
        if not failure:
            tools, reply = server.list_tools()
            failure = "" if reply.ok else _reason(reply)
        info = server.server_info
        weights = Weights(
            str(info.get("name", "")),
            str(info.get("version", "")),
            tuple(command),
            None if failure else _tool_list(tools),
            threshold,
            (),
        )
        if failure:
            return replace(weights, failure=failure)
        tool_names = {str(tool.get("name")) for tool in tools}
        rows: list[Row] = []
        is_usable = True
        for call in read_only_calls(tools) if calls is None else calls:
            reason = call.skipped or ("" if call.tool in tool_names else f"the server lists no tool {call.tool}")
            if reason:
                rows.append(Row(call.tool, call.arguments, call.title, None, reason))
                continue
            if not is_usable:
                server.close()
                server, start_failure = start()
                is_usable = not start_failure
                if start_failure:
                    rows.append(Row(call.tool, call.arguments, call.title, None, start_failure))
                    continue
            say(one_line(f"{call.tool} {compact(call.arguments)}", 120))
            row, is_usable = _weigh_call(server, call, threshold)
            rows.append(row)
        return replace(weights, rows=tuple(rows))
    finally:
        server.close()
        reaper.close()


def _weigh_call(server: ServerProcess, call: ToolCall, threshold: int) -> tuple[Row, bool]:
    """The row of a call, and whether the server still answers."""
    earlier_requests = _requests_of(server)
    reply = server.call_tool(call.tool, call.arguments)
    weight = None
    reason = _reason(reply)
    if requests := _requests_of(server)[len(earlier_requests) :]:
        reason = f"asked for input ({', '.join(dict.fromkeys(requests))})" + (f"; {reason}" if reason else "")
    result = as_object(reply.result)
    if reply.ok and result.get("isError") is True:
        text = " ".join(" ".join(text_blocks(result)).split())
        reason = reason or f"the tool reported an error: {one_line(text, 200)}"
    elif reply.ok and not isinstance(reply.result, dict):
        reason = reason or f"the result is not an object, got {one_line(compact(reply.result), 80)}"
    elif reply.ok:
        weight = weigh_result(result, len(reply.raw or b""), call.tool, threshold)
    server.transcript.cut_answers()
    return Row(call.tool, call.arguments, call.title, weight, reason), reply.failure is None and server.alive


def _requests_of(server: ServerProcess) -> list[str]:
    """The requests that the server has sent to its client."""
    return [
        anomaly.detail.removesuffix(" was refused")
        for anomaly in server.transcript.anomalies
        if anomaly.kind == "server-request"
    ]


def _reason(reply: Reply) -> str:
    """Reason why a reply has no result; empty if it has one."""
    if reply.failure is not None:
        last_line = reply.failure.stderr.strip().splitlines()[-1:] if reply.failure.kind == "exited" else []
        return " ".join([reply.failure.detail, *(f"(stderr: {one_line(line.strip(), 200)})" for line in last_line)])
    if reply.error is not None:
        return f"the server answered with an error: {as_object(reply.error).get('message', reply.error)}"
    return ""


def _tool_list(tools: list[dict[str, Any]]) -> ToolList:
    tool_list = cast("dict[str, Any]", {"tools": [dict(tool) for tool in tools]})
    tokens = count(compact(tool_list))
    widen_tools(tool_list)
    return ToolList(len(tools), tokens, count(compact(tool_list)))


def earlier_tokens(report: Mapping[str, Any]) -> dict[str, int]:
    """The tokens of each result in an earlier report, by `Row.key`.

    Raises `ValueError` if the calls of the report cannot be read, or do not have any weight.
    """
    try:
        tokens_by_key = {
            f"{call['tool']} {compact(call['arguments'])}": call["weight"]["tokens"]["o200k"]
            for call in report["calls"]
            if call["weight"] is not None
        }
    except (KeyError, TypeError, RecursionError) as problem:
        raise ValueError(f"the calls of the report cannot be read ({type(problem).__name__}: {problem})") from None
    for key, tokens in tokens_by_key.items():
        if type(tokens) is not int or tokens < 0:
            raise ValueError(f"{key}: expected a number of tokens, got {tokens!r}")
    if not tokens_by_key:
        failure = report.get("failure")
        hint = f" (that run failed: {failure})" if failure else ""
        raise ValueError(f"has no weight to compare with: make another report with --json{hint}")
    return tokens_by_key


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of new results with an earlier report."""

    worse: tuple[str, ...]
    """A sentence for each result that has grown by more than a tenth, or has no weight any more."""
    results: int
    """Number of results in the earlier report."""
    new: tuple[str, ...]
    """Keys of results that are not in the earlier report, and are therefore not compared."""

    def __str__(self) -> str:
        """A sentence on all results."""
        accepted = self.results - len(self.worse)
        new = f"; not in it, and not compared: {', '.join(one_line(key, 60) for key in self.new)}" if self.new else ""
        return f"{accepted} of {self.results} results have grown by no more than a tenth{new}"


def compare_weights(now: Weights, earlier: Mapping[str, int]) -> Comparison:
    """Compare new weights with the tokens of an earlier report (`earlier_tokens`)."""
    rows = {row.key: row for row in now.rows}
    worse: list[str] = []
    for key, tokens in earlier.items():
        row, call = rows.get(key), one_line(key, 120)
        if row is None or row.weight is None:
            reason = row.reason if row is not None else "this call was not made"
            worse.append(f"weighed before, not now: {call}: {reason}")
        elif row.weight.tokens["o200k"] > (1 + MAX_GROWTH) * tokens:
            worse.append(
                f"grown by more than a tenth: {call}: {tokens:,} tokens before, {row.weight.tokens['o200k']:,} now"
            )
    new = tuple(key for key, row in rows.items() if row.weight is not None and key not in earlier)
    return Comparison(tuple(worse), len(earlier), new)
