"""A bench: one running server, with its operations, its output folder and its private working folder."""

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
from lro_conformance.lab.thresholds import USUAL_LIMIT, AcceptedThresholds
from lro_conformance.profile import Profile
from lro_conformance.profile.launcher import Value
from lro_conformance.wire.reply import Reply, not_sent
from lro_conformance.wire.server import ServerProcess
from lro_spec.filenames import parse_file_name, real_path

_NUMBER = re.compile(r"(?<![\w.])\d{1,6}(?![\w.]?\d)")
_TASK_MS = 60_000
"""The time, in milliseconds, for which the server is asked to keep a task."""
_POLL_S = 0.05
MAX_OUTPUT_WAIT_S, MIN_OUTPUT_WAIT_S = 0.05, 0.01
"""After a response, the suite waits for this many seconds for more output. It usually waits `MAX_OUTPUT_WAIT_S`. It
waits only `MIN_OUTPUT_WAIT_S` if a new event has already appeared."""
CLEANUP_TOOL = "run_custodial_task"
"""The conventional name of the tool that runs the specification's cleanup task, `offload_cleanup`."""


def accepts(reply: Reply) -> bool:
    """Return whether a reply has a result that is not an error."""
    result: object = reply.result
    return isinstance(result, dict) and cast("dict[str, Any]", result).get("isError") is not True


class SentCall(NamedTuple):
    """A call whose request was sent, and whose result has not been collected yet."""

    id: int | None
    """The id of the request. None if the request was not sent, because earlier calls of the tool had no response in
    time."""
    started: float
    """The time of the request, in seconds since the epoch."""
    requested: dict[str, Any]
    """The call as it was asked for: the operation (``name``), detail, limit, query and budget."""
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
    """Called after each restart of the server. The restart may have deleted the memories that the suite stored."""
    on_stored: Callable[[Bench, Memory], None]
    """Called with each memory that the server has accepted."""
    client: str | None = None
    """The client name that the suite sends. If it is None, the suite sends the name in the profile, or its own name if
    the profile has none."""
    tools: Sequence[Mapping[str, Any]] = ()
    operations: dict[str, Operation] = field(default_factory=dict[str, Operation])
    lock: threading.RLock = field(default_factory=threading.RLock)
    command_stderr: list[str] = field(default_factory=list[str])
    """Lines that the profile's cleanup command wrote to stderr."""
    files_before: frozenset[str] = frozenset()
    """The names of the files that were in the output folder before the first call."""
    named_files: set[str] = field(default_factory=set[str])
    """The names of the files that were named in results of this server."""
    state_changing_requests: list[int] = field(default_factory=list[int])
    """The ids of the requests that stored memories in this process or triggered its cleanup. `forget_experiment`
    removes ids from this list."""
    cleanup_request: int | None = None
    """The id of the last request that triggered cleanup; None if there was no such request."""
    stored_at: float = 0.0
    """The time, by the monotonic clock, at which the last memory was stored or the server was last restarted, whichever
    is later."""
    memories: list[Memory] = field(default_factory=list[Memory])
    """The memories that the server has accepted since it was last started."""
    corpus_requests: int = 0
    """Number of requests that stored the suite's own memories. They are at the beginning of `state_changing_requests`;
    all other requests in that list belong to one experiment."""

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
        """The folder for temporary files, which is the value of TMPDIR."""
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
            folders += system_temp_folders()
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
        limit: int | None = USUAL_LIMIT,
        query: str | None = None,
        **extra: Any,
    ) -> Call:
        """Call the tool of an operation, and capture the result. If the result is offloaded, capture the file, too.

        *extra* has further keys of `start_call`. If *extra* is empty, and the server answers with an error that names a
        smaller limit, the call may be made again with this limit (see `retry_with_server_limit`).
        """
        call = self.calls([{"name": name, "detail": detail, "limit": limit, "query": query, **extra}])[0]
        return call if call.outcome != "error" or extra else self.retry_with_server_limit(call) or call

    def retry_with_server_limit(self, call: Call) -> Call | None:
        """Retry a call with the smaller limits that are named by its error, to find the server's maximum.

        The maximum is n if a call with the limit n succeeds, and a call with n + 1 fails. Returns the call with the
        limit n, and later calls do not exceed n. Returns None if there is no such limit.

        This is tried only at the lowest threshold, at which the results of both calls are offloaded. At other
        thresholds, the result for n + 1 may be offloaded although the result for n is inline. Then the call with n + 1
        may fail only because the server cannot write the file.
        """
        if self.settings.get("threshold_tokens") != self.accepted.lowest:
            return None
        for limit in _limits_in_error(call, self.operations[call.operation].limit):
            call_at_limit, call_beyond_limit = (
                self.calls([{"name": call.operation, "detail": call.detail, "limit": n, "query": call.query}])[0]
                for n in (limit, limit + 1)
            )
            if call_at_limit.outcome != "error" and call_beyond_limit.outcome == "error":
                self.operations[call.operation] = replace(self.operations[call.operation], limit_maximum=limit)
                return call_at_limit
        return None

    def offloading_call(self, name: str, count: int) -> Call:
        """Call an operation with a limit of *count*, or with a larger limit if *count* records might not exceed the
        lowest threshold."""
        return self.call(name, **self.accepted.arguments_of_offloading_call(name, count))

    def calls(self, wanted: Sequence[Mapping[str, Any]]) -> list[Call]:
        """Make several concurrent calls. Returns the calls in the order of *wanted*; for its entries see
        `start_call`."""
        with self.lock:
            return [self.finish_call(sent) for sent in self.start_calls(wanted)]

    def start_calls(self, wanted: Sequence[Mapping[str, Any]]) -> list[SentCall]:
        """Make several calls like `start_call`. The requests are sent together in one write."""
        with self.server.at_once():
            return [self.start_call(one) for one in wanted]

    def start_call(self, wanted: Mapping[str, Any]) -> SentCall:
        """Make a call without waiting for its result.

        *wanted* describes the call. It has the ``name`` of an operation and, optionally, ``detail``, ``limit``,
        ``query`` and ``budget``. If it has ``arguments``, these are sent in addition to the arguments of the operation.
        ``meta`` is sent as the request's ``_meta``, and ``task`` as its ``task``. If ``omit_query`` is true, no query
        is sent, not even the query in the profile.
        """
        self._wait_for_stored_memory()
        requested = dict(wanted)
        name, extra_arguments = requested.pop("name"), requested.pop("arguments", {})
        members = {"_meta": requested.pop("meta", None), "task": requested.pop("task", None)}
        arguments = self._arguments(name, requested) | extra_arguments
        params = {"name": self.operations[name].tool, "arguments": arguments} | {k: v for k, v in members.items() if v}
        started = time.time()
        is_called = self.ledger.reason_not_to_call(params["name"]) is None
        id = self.server.send("tools/call", params) if is_called else None
        return SentCall(id, started, {"name": name, **requested}, arguments)

    def _wait_for_stored_memory(self) -> None:
        """Wait until the server can find the last memory that was stored. Only some servers need time for that
        (`Ledger.finding_lag_s`)."""
        if lag_s := self.ledger.finding_lag_s:
            remaining_s = self.stored_at + lag_s - time.monotonic()
            if remaining_s > 0:
                self.server.drain(remaining_s)

    def finish_call(self, sent: SentCall, timeout_s: float | None = None) -> Call:
        """Wait for the result of a call that was made by `start_call`, and capture the result as `call` does."""
        return self._capture(self._reply(sent, timeout_s), sent.started, sent.requested, sent.arguments)

    def _reply(self, sent: SentCall, timeout_s: float | None = None) -> Reply:
        tool = self.operations[sent.requested["name"]].tool
        if sent.id is None:
            return not_sent(self.ledger.reason_not_to_call(tool) or "")
        reply = self.server.wait(sent.id, timeout_s)
        if timeout_s is None and reply.failure is not None and reply.failure.kind in ("timeout", "garbage"):
            self.ledger.note_timeout(tool)
        return reply

    def call_as_task(self, name: str, *, limit: int | None) -> tuple[Reply, Call, str | None]:
        """Call an operation as a task of MCP 2025-11-25. Returns the reply that created the task, the call with the
        task's result, and the last status of the task.

        If the server answers with the result instead of a task, this answer is the reply, and the call has its result.
        The status is then None.
        """
        with self.lock:
            sent = self.start_call({"name": name, "limit": limit, "query": None, "task": {"ttl": _TASK_MS}})
            first_reply = last_reply = self._reply(sent)
            task = as_record(as_record(first_reply.result).get("task"))
            asked = {"taskId": task.get("taskId")}
            if isinstance(asked["taskId"], str):
                deadline = time.monotonic() + self.server.limits.request_timeout_s
                while task.get("status") in ("working", "input_required") and time.monotonic() < deadline:
                    self.server.drain(_POLL_S)
                    task = as_record(self.server.request("tasks/get", asked).result)
                last_reply = self.server.request("tasks/result", asked)
            status: object = task.get("status")
            call = self._capture(last_reply, sent.started, sent.requested, sent.arguments)
            return first_reply, call, status if isinstance(status, str) else None

    def _arguments(self, name: str, requested: dict[str, Any]) -> dict[str, Any]:
        """Return the tool's arguments for a call. Also sets limit and query in *requested* to the values that are
        sent."""
        operation = self.operations[name]
        arguments = dict(operation.arguments)
        limit = requested.get("limit")
        if operation.limit is not None and limit is not None:
            maximum = operation.limit_maximum
            requested["limit"] = limit if maximum is None else min(limit, maximum)
            arguments[operation.limit] = requested["limit"]
        else:
            requested["limit"] = None
        if operation.detail is not None and requested.get("detail") is not None:
            arguments[operation.detail] = operation.detail_value(requested["detail"])
        if operation.query is not None and requested.get("query") is not None:
            arguments[operation.query] = requested["query"]
        if requested.pop("omit_query", False) and operation.query is not None:
            arguments.pop(operation.query, None)
        requested["query"] = arguments.get(operation.query) if operation.query is not None else None
        budget = requested.get("budget")
        if operation.budget is not None and budget is not None:
            arguments[operation.budget] = budget
        return arguments

    def _capture(self, reply: Reply, started: float, requested: Mapping[str, Any], arguments: dict[str, Any]) -> Call:
        ended = time.time()
        descriptor = descriptor_in(reply)
        file: FileSeen | None = None
        path = None if descriptor is None else descriptor.value.get("file_path")
        # only for operations, because the result of another tool may name a file that the tool has read
        if descriptor is None and requested["name"] in self.editions.own.operations:
            path = self._file_without_descriptor(reply, started)
        if descriptor is not None or path is not None:
            file = see_file(path, self.roots)
            file = replace(file, may_be_written_by_call=written_since(file.path, started))
            self.ledger.stray_files.note(file)
            self.named_files.add(os.path.basename(file.path))
        call = Call(
            operation=requested["name"],
            tool=self.operations[requested["name"]].tool,
            arguments=arguments,
            detail=requested.get("detail"),
            limit=requested.get("limit"),
            query=requested.get("query"),
            start=self.start,
            before=tuple(self.state_changing_requests),
            reply=reply,
            started=started,
            ended=ended,
            utc_offset_s=FAR_ZONE_OFFSET_S if self.in_far_zone else time.localtime(started).tm_gmtoff,
            file=file,
            real_output_dir=None if self.output_dir is None else Path(real_path(str(self.output_dir))),
            in_reply=descriptor,
            inline_path=self.profile.inline_records,
        )
        if reply.failure is not None:
            self.ledger.note_failure(reply.failure, call.label)
        self.ledger.note_call(call)
        return call

    def _file_without_descriptor(self, reply: Reply, started: float) -> str | None:
        """Return the path of a file that was written by the call, if its result names the file without a valid
        descriptor: in prose, as a link, or in malformed JSON.

        Returns None if there is no such file, or more than one. Also returns None if the result has records or is an
        error, or if the suite has limited the size of the files that the process writes (`limit_files`).
        """
        result, raw = as_record(reply.result), reply.raw or b""
        if b".jsonl" not in raw or result.get("isError") is True or self.server.file_limit_applied:
            return None
        folders = [self.output_dir] if self.output_dir is not None else self.temp_folders
        names = [(f, n) for f in dict.fromkeys(folders) for n in file_names_in(f) if n not in self.named_files]
        offloaded = [(f, n) for f, n in names if self.editions.is_offload_name(n)]
        paths = [p for f, n in offloaded if n.encode() in raw and written_since(p := str(f / n), started)]
        return paths[0] if len(paths) == 1 and not find_records(result, self.profile.inline_records) else None

    def listing(self) -> dict[str, int]:
        """Return the names of the offloaded files directly in the output folder, with their sizes in bytes.

        An offloaded file is recognised by its name or its header.
        """
        editions = [e.name for e in self.editions.all]
        files = {name: see_file(f"{self.output_dir}/{name}", self.roots) for name in self.files()}
        return {n: len(f.data) for n, f in files.items() if f.problem is None and _is_offloaded(n, f, editions)}

    def files(self) -> list[str]:
        """Return the names of the new entries of the output folder, without folders. An entry is new if it was not
        there before the first call."""
        names = [] if self.output_dir is None else file_names_in(self.output_dir)
        return [name for name in names if name not in self.files_before]

    def store(self, memory: Memory) -> Reply | None:
        """Store one memory by the seed tool. Returns the reply, or None if the profile names no seed tool."""
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

    def try_to_store(self, memory: Memory) -> bool:
        """Store one memory by the seed tool, and return whether the server accepted it."""
        reply = self.store(memory)
        return reply is not None and accepts(reply)

    def call_other(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Call a tool that does not perform an operation. If its result names a file, note the name of the file."""
        with self.lock:
            reply = self.server.call_tool(tool, dict(arguments))
            self._note_file(reply)
        if reply.failure is not None:
            self.ledger.note_failure(reply.failure, f"{tool}(…)")
        return reply

    def _note_file(self, reply: Reply) -> None:
        """If a reply has a descriptor, note the name of its file. Proxies and some servers offload the results of any
        tool."""
        descriptor = descriptor_in(reply)
        if descriptor is not None:
            self.named_files.add(os.path.basename(str(descriptor.value.get("file_path"))))

    @property
    def has_trigger(self) -> bool:
        """True if the profile names a way to trigger cleanup, or the server has the conventional tool."""
        return self.profile.cleanup is not None or self._has_cleanup_tool

    @property
    def cleans_up_on_request(self) -> bool:
        """True if a call of a tool is enough to trigger cleanup in the running process."""
        trigger = self.profile.cleanup
        return self._has_cleanup_tool if trigger is None else trigger.tool is not None

    @property
    def _has_cleanup_tool(self) -> bool:
        """True if the server lists the conventional tool, and is not behind `lro proxy`. Behind a proxy, the tool would
        not clean up the files of the proxy."""
        is_behind_proxy = profiles.server_index(self.profile.server.command) is not None
        return not is_behind_proxy and any(t.get("name") == CLEANUP_TOOL for t in self.tools)

    def cleanup(self) -> None:
        """Trigger the server's cleanup. This is done as the profile says. If it says nothing, it is done by the
        conventional tool or, if the server lacks this tool, by a restart."""
        trigger = self.profile.cleanup
        tool: str | None = trigger.tool if trigger is not None else None
        arguments: Mapping[str, Any] = trigger.arguments if trigger is not None else {}
        if trigger is None and self._has_cleanup_tool:
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
        elif trigger is not None and trigger.command:
            words = [profiles.fill(w, workdir=self.workdir) for w in trigger.command]
            command = [w.replace("{output_dir}", str(self.output_dir)) for w in words]
            run = self.launcher.run_command
            self.command_stderr += run(command, "cleanup.command", self.settings, self.workdir)
        elif trigger is not None and trigger.wait_s is not None:
            with self.lock:
                self.server.drain(trigger.wait_s)
        elif trigger is not None and trigger.next_offload:
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
    def temp_folders(self) -> list[Path]:
        """The folders in which the server may put temporary files: first the value of TMPDIR, then the system's
        folders."""
        return [self.temp, *system_temp_folders()]

    def forget_experiment(self) -> None:
        """Remove the requests of the last experiment from `state_changing_requests`. The requests that stored the
        suite's own memories stay in the list."""
        del self.state_changing_requests[self.corpus_requests :]

    def pause(self, seconds: float) -> None:
        """Wait for this many seconds. Raises `RuntimeError` as soon as the run is aborted."""
        self.launcher.workspace.pause(seconds)

    def events(self, name: str, known_count: int | None = None) -> list[str]:
        """Return the events with a *name*, each prefixed with its channel: notifications, stderr, or the event file.

        *known_count* is the number of events that appeared before. If there are already more, the suite waits for
        further events only for a short time.
        """
        if (
            known_count is not None
            and len(found := [line for line in self.output(MIN_OUTPUT_WAIT_S) if name in line]) > known_count
        ):
            return found
        return [line for line in self.output() if name in line]

    def output(self, wait_s: float = MAX_OUTPUT_WAIT_S) -> list[str]:
        """Wait for more output for *wait_s* seconds. Then return the lines from all channels (notifications, stderr,
        event file), each prefixed with its channel."""
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


def _limits_in_error(call: Call, argument: str | None) -> Iterator[int]:
    """If an error names the *argument* for the limit, yield up to three smaller limits in the error, the largest
    first."""
    text = call.text if call.reply.error is None else show(call.reply.error, 10_000)
    if call.limit is None or argument is None or argument.lower() not in text.lower():
        return
    yield from sorted({n for n in map(int, _NUMBER.findall(text)) if 0 < n < call.limit - 1}, reverse=True)[:3]


def file_names_in(folder: Path) -> list[str]:
    """Return the names of the entries of a folder, without folders. Returns no names if there is no such folder."""
    return [e.name for e in os.scandir(folder) if not e.is_dir(follow_symlinks=False)] if folder.is_dir() else []


def _is_offloaded(name: str, file: FileSeen, editions: Sequence[str]) -> bool:
    has_offload_name = any(parse_file_name(name, edition=e) is not None for e in editions)
    return has_offload_name or any(is_header(line.value) for line in file.lines[:1])


def system_temp_folders() -> list[Path]:
    """Return the system's own folders for temporary files."""
    return [Path("/tmp"), Path("/var/tmp"), Path(tempfile.gettempdir())]  # noqa: S108 - looked at, not written to
