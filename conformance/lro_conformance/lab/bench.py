"""One running server with its operations, its output folder and its private working folder."""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from lro_conformance import profile as profiles
from lro_conformance.capture.call import Call, descriptor_in
from lro_conformance.capture.corpus import Memory, substitute
from lro_conformance.capture.file import FileSeen, is_header, see_file, written_since
from lro_conformance.capture.records import as_record, find_records, show
from lro_conformance.capture.start import Start
from lro_conformance.lab.editions import Editions
from lro_conformance.lab.errors import describe
from lro_conformance.lab.launcher import Launcher
from lro_conformance.lab.ledger import Ledger
from lro_conformance.lab.operations import Operation
from lro_conformance.lab.settings import FAR_ZONE_OFFSET_S, far_zone
from lro_conformance.lab.thresholds import LIMIT, AcceptedThresholds
from lro_conformance.profile import Profile
from lro_conformance.profile.launcher import Value
from lro_conformance.wire.reply import Reply, not_sent
from lro_conformance.wire.server import ServerProcess
from lro_spec.filenames import parse_file_name, real_path

_NUMBER = re.compile(r"(?<![\w.])\d{1,6}(?![\w.]?\d)")
_TASK_MS = 60_000
"""Time in milliseconds for which the server is to keep a task."""
_POLL_S = 0.05
SETTLED_S, PROMPT_S = 0.05, 0.01
"""Seconds for which more output is awaited after a response: usually `SETTLED_S`, but only `PROMPT_S` if an event that
was not known before is there already."""
CLEANUP_TOOL = "run_custodial_task"
"""The conventional name of the tool that runs the specification's cleanup task, `offload_cleanup`."""


def accepts(reply: Reply) -> bool:
    """Return whether a reply has a result, and the result is no error."""
    result: object = reply.result
    return isinstance(result, dict) and cast("dict[str, Any]", result).get("isError") is not True


class Sent(NamedTuple):
    """A call whose request was sent, and whose result has not been collected yet."""

    id: int | None
    """The id of the request; None if it was not sent, because earlier calls of the tool had no response in time."""
    started: float
    """The time of the request, in seconds since the epoch."""
    asked: dict[str, Any]
    """The operation (``name``), detail, limit, query and budget of the call."""
    arguments: dict[str, Any]
    """The arguments that the tool was called with."""


@dataclass
class Bench:
    """One running server, with its folders, its operations and notes on its state."""

    launcher: Launcher
    ledger: Ledger
    editions: Editions
    accepted: AcceptedThresholds
    server: ServerProcess
    start: Start
    on_restart: Callable[[Bench], None]
    """Called after each restart of the server, which may have lost the memories that the suite stored in it."""
    on_stored: Callable[[Bench, Memory], None]
    """Called with each memory that the server has accepted."""
    client: str | None = None
    """The client name that the suite sends; None for the name in the profile or, if it has none, the suite's own."""
    tools: Sequence[Mapping[str, Any]] = ()
    operations: dict[str, Operation] = field(default_factory=dict[str, Operation])
    lock: threading.RLock = field(default_factory=threading.RLock)
    command_stderr: list[str] = field(default_factory=list[str])
    """Lines that the profile's cleanup command wrote to stderr."""
    files_before: frozenset[str] = frozenset()
    """The names of the files that were in the output folder before the first call."""
    named_files: set[str] = field(default_factory=set[str])
    """The names of the files that results of this server named."""
    state_changing_requests: list[int] = field(default_factory=list[int])
    """The ids of the requests that stored memories in this process or triggered its cleanup, apart from those that
    `forget_experiment` has removed."""
    cleanup_request: int | None = None
    """The id of the request that last triggered cleanup; None if none did."""
    stored_at: float = 0.0
    """The time, by the monotonic clock, at which the last memory was stored, or the server was restarted."""
    memories: list[Memory] = field(default_factory=list[Memory])
    """The memories that the server has accepted since it was last started."""
    corpus_requests: int = 0
    """Number of requests at the beginning of `state_changing_requests` that stored the suite's own memories; all the
    others belong to one experiment."""

    @property
    def profile(self) -> Profile:
        """The profile of the server."""
        return self.launcher.profile

    @property
    def settings(self) -> Mapping[str, Value]:
        """The LRO settings of the server."""
        return cast("Mapping[str, Value]", self.start.settings)

    @property
    def workdir(self) -> Path:
        """The private folder of the process."""
        return self.start.workdir

    @property
    def output_dir(self) -> Path | None:
        """The configured output folder; None if none was set."""
        return self.start.output_dir

    @property
    def temp(self) -> Path:
        """The folder that TMPDIR names."""
        return self.start.temp

    @property
    def in_far_zone(self) -> bool:
        """True if the server's time zone is `far_zone`."""
        return self.start.env.get("TZ") == far_zone()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders from which the suite reads files of this server."""
        folders = [self.workdir, self.temp]
        if self.output_dir is not None:
            folders.append(self.output_dir)
        if not self.settings.get("output_dir"):
            folders += system_temps()
        return tuple(Path(os.path.realpath(f)) for f in folders)

    @property
    def cwd(self) -> Path:
        """The working directory of the server."""
        profile = self.profile
        return Path(os.path.realpath(profile.folder / profiles.fill(profile.server.cwd, workdir=self.workdir)))

    def call(
        self,
        name: str,
        *,
        detail: str | None = None,
        limit: int | None = LIMIT,
        query: str | None = None,
        **extra: Any,
    ) -> Call:
        """Call the tool of an operation and capture the result and, if it is offloaded, the file.

        *extra* has further keys of `post`. If there are none, and an error of the server names a smaller limit, the
        call may be made again with that limit (`retry_with_server_limit`).
        """
        made = self.calls([{"name": name, "detail": detail, "limit": limit, "query": query, **extra}])[0]
        return made if made.outcome != "error" or extra else self.retry_with_server_limit(made) or made

    def retry_with_server_limit(self, call: Call) -> Call | None:
        """Retry a call with smaller limits that its error names. Returns the call with a limit of n, if that succeeds
        and a limit of n + 1 fails, which proves that n is the server's maximum; None if there is no such limit.

        Later calls do not exceed this maximum. The suite tries this at the lowest threshold only, at which both results
        are offloaded. At other thresholds, the one additional record may turn an inline result into a file, and the
        call may fail only because the server cannot write that file.
        """
        if self.settings.get("threshold_tokens") != self.accepted.lowest:
            return None
        for limit in _limits_named(call, self.operations[call.operation].limit):
            again, beyond = (
                self.calls([{"name": call.operation, "detail": call.detail, "limit": n, "query": call.query}])[0]
                for n in (limit, limit + 1)
            )
            if again.outcome != "error" and beyond.outcome == "error":
                self.operations[call.operation] = replace(self.operations[call.operation], limit_maximum=limit)
                return again
        return None

    def offloading_call(self, name: str, count: int) -> Call:
        """Call an operation for *count* records, or for more if so few might not exceed the lowest threshold."""
        return self.call(name, **self.accepted.arguments_of_offloading_call(name, count))

    def calls(self, wanted: Sequence[Mapping[str, Any]]) -> list[Call]:
        """Make several concurrent calls. Returns their results in the order of *wanted*."""
        with self.lock:
            return [self.collect(one) for one in self.post_all(wanted)]

    def post_all(self, wanted: Sequence[Mapping[str, Any]]) -> list[Sent]:
        """Make calls like `post`, in one write, so that they reach the server together."""
        with self.server.at_once():
            return [self.post(one) for one in wanted]

    def post(self, wanted: Mapping[str, Any]) -> Sent:
        """Make a call without waiting for its result.

        *wanted* has the ``name`` of an operation and, optionally, ``detail``, ``limit``, ``query`` and ``budget``. Its
        ``arguments`` are sent in addition to those of the operation, ``meta`` as ``_meta`` and ``task`` as ``task`` of
        the request. With ``omit_query``, no query is sent, not even the profile's.
        """
        self._await_stored()
        asked = dict(wanted)
        name, more = asked.pop("name"), asked.pop("arguments", {})
        members = {"_meta": asked.pop("meta", None), "task": asked.pop("task", None)}
        arguments = self._arguments(name, asked) | more
        params = {"name": self.operations[name].tool, "arguments": arguments} | {k: v for k, v in members.items() if v}
        started = time.time()
        is_called = self.ledger.reason_not_to_call(params["name"]) is None
        id = self.server.send("tools/call", params) if is_called else None
        return Sent(id, started, {"name": name, **asked}, arguments)

    def _await_stored(self) -> None:
        """If the server is known to find memories only some time after they were stored, wait for the last one."""
        if lag_s := self.ledger.finding_lag_s:
            rest = self.stored_at + lag_s - time.monotonic()
            if rest > 0:
                self.server.drain(rest)

    def collect(self, sent: Sent, timeout_s: float | None = None) -> Call:
        """Wait for the result of a call that was posted, and capture it like `call`."""
        return self._capture(self._reply(sent, timeout_s), sent.started, sent.asked, sent.arguments)

    def _reply(self, sent: Sent, timeout_s: float | None = None) -> Reply:
        tool = self.operations[sent.asked["name"]].tool
        if sent.id is None:
            return not_sent(self.ledger.reason_not_to_call(tool) or "")
        reply = self.server.wait(sent.id, timeout_s)
        if timeout_s is None and reply.failure is not None and reply.failure.kind in ("timeout", "garbage"):
            self.ledger.note_timeout(tool)
        return reply

    def call_as_task(self, name: str, *, limit: int | None) -> tuple[Reply, Call, str | None]:
        """Call an operation as a task of MCP 2025-11-25. Returns the reply that created the task, the call with the
        task's result, and the last status of the task.

        If the server answers with the result itself, the reply and the call are both from that answer, and the status
        is None.
        """
        with self.lock:
            sent = self.post({"name": name, "limit": limit, "query": None, "task": {"ttl": _TASK_MS}})
            made = final = self._reply(sent)
            task = as_record(as_record(made.result).get("task"))
            asked = {"taskId": task.get("taskId")}
            if isinstance(asked["taskId"], str):
                until = time.monotonic() + self.server.limits.request_timeout_s
                while task.get("status") in ("working", "input_required") and time.monotonic() < until:
                    self.server.drain(_POLL_S)
                    task = as_record(self.server.request("tasks/get", asked).result)
                final = self.server.request("tasks/result", asked)
            status: object = task.get("status")
            seen = self._capture(final, sent.started, sent.asked, sent.arguments)
            return made, seen, status if isinstance(status, str) else None

    def _arguments(self, name: str, asked: dict[str, Any]) -> dict[str, Any]:
        """The tool's arguments for a call. Sets limit and query in *asked* to the values that are sent."""
        operation = self.operations[name]
        arguments = dict(operation.arguments)
        limit = asked.get("limit")
        if operation.limit is not None and limit is not None:
            most = operation.limit_maximum
            asked["limit"] = limit if most is None else min(limit, most)
            arguments[operation.limit] = asked["limit"]
        else:
            asked["limit"] = None
        if operation.detail is not None and asked.get("detail") is not None:
            arguments[operation.detail] = operation.detail_value(asked["detail"])
        if operation.query is not None and asked.get("query") is not None:
            arguments[operation.query] = asked["query"]
        if asked.pop("omit_query", False) and operation.query is not None:
            arguments.pop(operation.query, None)
        asked["query"] = arguments.get(operation.query) if operation.query is not None else None
        budget = asked.get("budget")
        if operation.budget is not None and budget is not None:
            arguments[operation.budget] = budget
        return arguments

    def _capture(self, reply: Reply, started: float, asked: Mapping[str, Any], arguments: dict[str, Any]) -> Call:
        ended = time.time()
        found = descriptor_in(reply)
        file: FileSeen | None = None
        named = None if found is None else found.value.get("file_path")
        if found is None and asked["name"] in self.editions.own.operations:  # other tools may name files that they read
            named = self._file_without_descriptor(reply, started)
        if found is not None or named is not None:
            file = see_file(named, self.roots)
            file = replace(file, lately=written_since(file.path, started))
            self.ledger.stray.note(file)
            self.named_files.add(os.path.basename(file.path))
        seen = Call(
            operation=asked["name"],
            tool=self.operations[asked["name"]].tool,
            arguments=arguments,
            detail=asked.get("detail"),
            limit=asked.get("limit"),
            query=asked.get("query"),
            start=self.start,
            before=tuple(self.state_changing_requests),
            reply=reply,
            started=started,
            ended=ended,
            utc_offset_s=FAR_ZONE_OFFSET_S if self.in_far_zone else time.localtime(started).tm_gmtoff,
            file=file,
            real_output_dir=None if self.output_dir is None else Path(real_path(str(self.output_dir))),
            in_reply=found,
            inline_path=self.profile.inline_records,
        )
        if reply.failure is not None:
            self.ledger.note_failure(reply.failure, seen.label)
        self.ledger.note_call(seen)
        return seen

    def _file_without_descriptor(self, reply: Reply, started: float) -> str | None:
        """The path of a file that the call wrote and that its result names without a valid descriptor: in prose, as a
        link, or in malformed JSON. None if there is no such file or more than one, if the result has records or is an
        error, or once the suite has limited the size of the files that the process writes (`limit_files`)."""
        result, raw = as_record(reply.result), reply.raw or b""
        if b".jsonl" not in raw or result.get("isError") is True or self.server.file_limit_applied:
            return None
        folders = [self.output_dir] if self.output_dir is not None else self.temps
        names = [(f, n) for f in dict.fromkeys(folders) for n in names_in(f) if n not in self.named_files]
        ours = [(f, n) for f, n in names if self.editions.is_offload_name(n)]
        paths = [p for f, n in ours if n.encode() in raw and written_since(p := str(f / n), started)]
        return paths[0] if len(paths) == 1 and not find_records(result, self.profile.inline_records) else None

    def listing(self) -> dict[str, int]:
        """The names of the offloaded files directly in the output folder, with their sizes in bytes.

        An offloaded file is recognised by its name or its header.
        """
        editions = [e.name for e in self.editions.all]
        seen = {name: see_file(f"{self.output_dir}/{name}", self.roots) for name in self.files()}
        return {n: len(f.data) for n, f in seen.items() if f.problem is None and _is_offloaded(n, f, editions)}

    def files(self) -> list[str]:
        """The names of the entries of the output folder that are not folders and were not there before the first
        call."""
        names = [] if self.output_dir is None else names_in(self.output_dir)
        return [name for name in names if name not in self.files_before]

    def store(self, memory: Memory) -> Reply | None:
        """Store one memory by the seed tool. Returns the reply; None if the profile names no seed tool."""
        seed = self.profile.seed
        if seed is None or seed.tool is None:
            return None
        with self.lock:
            reply = self.server.call_tool(seed.tool, substitute(seed.arguments, memory))
            self.stored_at = time.monotonic()
            self.state_changing_requests.append(reply.id)
            self._note_file(reply)
        if reply.failure is not None:
            self.ledger.note_failure(reply.failure, f"{seed.tool}(…)")
        elif accepts(reply):
            self.memories.append(memory)
            self.on_stored(self, memory)
        return reply

    def stored(self, memory: Memory) -> bool:
        """Store one memory by the seed tool, and return whether the server accepted it."""
        reply = self.store(memory)
        return reply is not None and accepts(reply)

    def call_other(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Call a tool that performs no operation, and note the file that it may name."""
        with self.lock:
            reply = self.server.call_tool(tool, dict(arguments))
            self._note_file(reply)
        if reply.failure is not None:
            self.ledger.note_failure(reply.failure, f"{tool}(…)")
        return reply

    def _note_file(self, reply: Reply) -> None:
        """Note the file that a descriptor in a reply names: proxies and some servers offload results of any tool."""
        found = descriptor_in(reply)
        if found is not None:
            self.named_files.add(os.path.basename(str(found.value.get("file_path"))))

    @property
    def has_trigger(self) -> bool:
        """True if the profile names a way to trigger cleanup, or the server has the conventional tool."""
        return self.profile.cleanup is not None or self._has_cleanup_tool

    @property
    def cleans_up_on_request(self) -> bool:
        """True if a tool triggers cleanup in the running process, and nothing else is needed."""
        how = self.profile.cleanup
        return self._has_cleanup_tool if how is None else how.tool is not None

    @property
    def _has_cleanup_tool(self) -> bool:
        """True if the server lists the conventional tool and is not behind `lro proxy`, whose files it would not clean
        up."""
        is_behind = profiles.server_index(self.profile.server.command) is not None
        return not is_behind and any(t.get("name") == CLEANUP_TOOL for t in self.tools)

    def cleanup(self) -> None:
        """Trigger the server's cleanup: as the profile says, else by the conventional tool, else by a restart."""
        how = self.profile.cleanup
        tool: str | None = how.tool if how is not None else None
        arguments: Mapping[str, Any] = how.arguments if how is not None else {}
        if how is None and self._has_cleanup_tool:
            tool, arguments = CLEANUP_TOOL, {"task": "offload_cleanup"}
        if tool is not None:
            with self.lock:
                reply = self.server.call_tool(tool, dict(arguments))
                self.cleanup_request = reply.id
                self.state_changing_requests.append(reply.id)
                self._note_file(reply)
                self.server.drain(0.02)
            if reply.failure is not None and self.server.exit is not None:
                self.ledger.remark(f"the server ended while it cleaned up ({tool}): {describe(reply.failure)}")
        elif how is not None and how.command:
            words = [profiles.fill(w, workdir=self.workdir) for w in how.command]
            command = [w.replace("{output_dir}", str(self.output_dir)) for w in words]
            run = self.launcher.run_command
            self.command_stderr += run(command, "cleanup.command", self.settings, self.workdir)
        elif how is not None and how.wait_s is not None:
            with self.lock:
                self.server.drain(how.wait_s)
        elif how is not None and how.next_offload:
            self._offload_something()
        else:
            self.restart()

    def _offload_something(self) -> None:
        """Call the operations at their richest detail level until a result is offloaded."""
        with self.lock:
            for name, operation in self.operations.items():
                call = self.call(name, detail=operation.details[-1] if operation.details else None)
                if call.outcome == "offloaded":
                    self.cleanup_request = call.reply.id
                    self.state_changing_requests.append(call.reply.id)
                    return

    def restart(self) -> None:
        """Stop the server and start it again under the same settings, in the same folders."""
        with self.lock:
            self.launcher.stop(self.server)
            spawn = self.launcher.spawn
            self.server, start = spawn(self.settings, self.workdir, self.temp, self.output_dir, None)
            stored = tuple(self.state_changing_requests[: self.corpus_requests])
            self.start = replace(start, seeded=(self.start, stored) if stored else self.start.seeded)
            self.state_changing_requests, self.memories, self.corpus_requests, self.cleanup_request = [], [], 0, None
            self.launcher.handshake(self.server, self.client)
            self.stored_at = time.monotonic()
            self.on_restart(self)

    @property
    def temps(self) -> list[Path]:
        """Folders that temporary files may go to: first the folder that TMPDIR names, then the system's."""
        return [self.temp, *system_temps()]

    def forget_experiment(self) -> None:
        """Remove the requests of the last experiment from `state_changing_requests`, but not those that stored the
        suite's own memories."""
        del self.state_changing_requests[self.corpus_requests :]

    def pause(self, seconds: float) -> None:
        """Wait. Raises `RuntimeError` as soon as the run is aborted."""
        self.launcher.workspace.pause(seconds)

    def events(self, name: str, known: int | None = None) -> list[str]:
        """Events with a *name*, each prefixed with its channel: notifications, stderr, or the event file.

        If there are more than *known* events already, the wait for further ones is short.
        """
        if known is not None and len(found := [line for line in self.output(PROMPT_S) if name in line]) > known:
            return found
        return [line for line in self.output() if name in line]

    def output(self, wait_s: float = SETTLED_S) -> list[str]:
        """Lines from every channel (notifications, stderr, event file), each prefixed with its channel. More output is
        first awaited for *wait_s* seconds."""
        with self.lock:
            self.server.drain(wait_s)
            lines = [f"notifications: {json.dumps(n, ensure_ascii=False)}" for n in self.server.notifications()]
            lines += [f"stderr: {line}" for line in (*self.server.stderr_lines(), *self.command_stderr)]
        if self.profile.events.file_env is not None:
            path = self.workdir / "lro-events.jsonl"
            text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            lines += [f"file: {line}" for line in text.splitlines()]
        return lines

    def close(self) -> None:
        """Stop the server."""
        with self.lock:
            self.launcher.stop(self.server)


def _limits_named(call: Call, argument: str | None) -> Iterator[int]:
    """Up to three smaller limits in an error that names the *argument*, the largest first."""
    text = call.text if call.reply.error is None else show(call.reply.error, 10_000)
    if call.limit is None or argument is None or argument.lower() not in text.lower():
        return
    yield from sorted({n for n in map(int, _NUMBER.findall(text)) if 0 < n < call.limit - 1}, reverse=True)[:3]


def names_in(folder: Path) -> list[str]:
    """The names of the entries of a folder that are not folders themselves; empty if there is no such folder."""
    return [e.name for e in os.scandir(folder) if not e.is_dir(follow_symlinks=False)] if folder.is_dir() else []


def _is_offloaded(name: str, file: FileSeen, editions: Sequence[str]) -> bool:
    by_name = any(parse_file_name(name, edition=e) is not None for e in editions)
    return by_name or any(is_header(line.value) for line in file.lines[:1])


def system_temps() -> list[Path]:
    """The system's own folders for temporary files."""
    return [Path("/tmp"), Path("/var/tmp"), Path(tempfile.gettempdir())]  # noqa: S108 - looked at, not written to
