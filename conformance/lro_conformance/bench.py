"""One running server with the operations that were found on it, its output folder and its private work folder."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lro_conformance import profile as profiles
from lro_conformance.calls import Call, FileSeen, is_header, real_path, see_file, written_since
from lro_conformance.judge import NotObserved
from lro_conformance.limits import within_limit
from lro_conformance.operations import Operation
from lro_conformance.profile.launching import Value
from lro_conformance.records import as_record, find_records
from lro_conformance.seeds import substitute
from lro_conformance.starts import Start
from lro_conformance.taken import LIMIT, Taken
from lro_conformance.wire import Reply, ServerProcess
from lro_conformance.zones import AHEAD_S, far_zone
from lro_spec.messages import FoundDescriptor, find_descriptor
from lro_spec.naming import parse_file_name

if TYPE_CHECKING:
    from lro_conformance.lab import Lab


class ServerTrouble(NotObserved):
    """The server did not start, or did not answer the handshake: one finding, said once."""

    start: Start | None = None
    """Which one, where it came so far."""
    declined = False
    """Whether the server ended, or said no, before it could be used: other settings may suit it."""


@dataclass(frozen=True)
class Settings:
    """LRO settings of one start; None leaves a setting out, so that the server's default applies."""

    threshold_tokens: int | None = None
    ttl_seconds: int | None = None
    enabled: bool | None = None
    output_dir: str | None = "{own}"
    """``{own}`` is a fresh folder of the bench, ``{relative}`` the same by a relative path; None leaves it out."""
    as_shipped: bool = False
    """Leave out ``enabled`` also for a server that had to be switched on to offload at all."""

    def given(self, taken: Taken) -> dict[str, Value]:
        """The settings that are set, with a threshold that the server takes."""
        values = {
            "enabled": self.enabled,
            "threshold_tokens": None if self.threshold_tokens is None else taken.within(self.threshold_tokens),
            "ttl_seconds": self.ttl_seconds,
            "output_dir": self.output_dir,
        }
        return {k: v for k, v in values.items() if v is not None}


class Sent(NamedTuple):
    """A call that was posted."""

    id: int
    started: float
    """Seconds since the epoch."""
    asked: dict[str, Any]
    arguments: dict[str, Any]


@dataclass
class Bench:
    """One running server and what surrounds it."""

    lab: Lab
    server: ServerProcess
    start: Start
    client: str | None = None
    """Who the suite says that it is; None: itself."""
    tools: Sequence[Mapping[str, Any]] = ()
    operations: dict[str, Operation] = field(default_factory=dict[str, Operation])
    lock: threading.RLock = field(default_factory=threading.RLock)
    overheard: list[str] = field(default_factory=list[str])
    """What commands that work beside the server said on stderr."""
    named: set[str] = field(default_factory=set[str])
    """The names of the files that descriptors of this server named."""
    given: list[int] = field(default_factory=list[int])
    """The ids of the requests that stored memories in this process or set its cleanup off."""
    cleaned: int | None = None
    """The id of the request that last set cleanup off; None where none did."""
    base: int = 0
    """How many of those are the corpus of the suite; what follows belongs to one experiment."""

    @property
    def settings(self) -> Mapping[str, Value]:
        """The LRO settings that were set."""
        return cast("Mapping[str, Value]", self.start.settings)

    @property
    def workdir(self) -> Path:
        """The private folder of the process."""
        return self.start.workdir

    @property
    def output_dir(self) -> Path | None:
        """The output folder that was set; None where none was."""
        return self.start.output_dir

    @property
    def temp(self) -> Path:
        """The folder that TMPDIR names."""
        return self.start.temp

    @property
    def abroad(self) -> bool:
        """Whether the server's local time is that of `lro_conformance.zones`."""
        return self.start.env.get("TZ") == far_zone()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders in which a file of this server is read."""
        folders = [self.workdir, self.temp]
        if self.output_dir is not None:
            folders.append(self.output_dir)
        if self.lab.reads_system_temp(self.settings):
            folders += system_temps()
        return tuple(Path(os.path.realpath(f)) for f in folders)

    @property
    def cwd(self) -> Path:
        """The working directory of the server."""
        profile = self.lab.profile
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
        """Call the tool of an operation and see everything that comes of it.

        The limit is one that the server takes: `lro_conformance.limits`.
        """
        made = self.calls([{"name": name, "detail": detail, "limit": limit, "query": query, **extra}])[0]
        return made if made.outcome != "error" or extra else within_limit(self, made) or made

    def few(self, name: str, count: int) -> Call:
        """A call of an operation for a few records, which exceed the lowest threshold."""
        return self.call(name, **self.lab.taken.few(name, count))

    def calls(self, wanted: Sequence[Mapping[str, Any]]) -> list[Call]:
        """Several calls in flight together; their results in the order asked."""
        with self.lock:
            return [self.collect(one) for one in [self.post(each) for each in wanted]]

    def post(self, wanted: Mapping[str, Any]) -> Sent:
        """Make a call without waiting for its result: the operation's *name*, and what is asked of it.

        *arguments* are sent beside those that the operation knows by name, *meta* as ``_meta`` of the request.
        """
        asked = dict(wanted)
        name, more, meta = asked.pop("name"), asked.pop("arguments", {}), asked.pop("meta", None)
        arguments = self._arguments(name, asked) | more
        params = {"name": self.operations[name].tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
        started = time.time()
        return Sent(self.server.send("tools/call", params), started, {"name": name, **asked}, arguments)

    def collect(self, sent: Sent, timeout_s: float | None = None) -> Call:
        """Wait for the result of a call that was posted, and see everything that comes of it."""
        return self._seen(self.server.wait(sent.id, timeout_s), sent.started, sent.asked, sent.arguments)

    def _arguments(self, name: str, asked: dict[str, Any]) -> dict[str, Any]:
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
            arguments[operation.detail] = asked["detail"]
        if operation.query is not None and asked.get("query") is not None:
            arguments[operation.query] = asked["query"]
        asked["query"] = arguments.get(operation.query) if operation.query is not None else None
        budget = asked.get("budget")
        if operation.budget is not None and budget is not None:
            arguments[operation.budget] = budget
        return arguments

    def _seen(self, reply: Reply, started: float, asked: Mapping[str, Any], arguments: dict[str, Any]) -> Call:
        ended = time.time()
        found = _descriptor(reply)
        file: FileSeen | None = None
        named = None if found is None else found.value.get("file_path")
        if found is None and asked["name"] in self.lab.edition.operations:  # other tools name files that they read
            named = self._undescribed(reply, started)
        if found is not None or named is not None:
            file = see_file(named, self.roots)
            file = replace(file, lately=written_since(file.path, started))
            self.lab.remember(file)
            self.named.add(os.path.basename(file.path))
        seen = Call(
            operation=asked["name"],
            tool=self.operations[asked["name"]].tool,
            arguments=arguments,
            detail=asked.get("detail"),
            limit=asked.get("limit"),
            query=asked.get("query"),
            start=self.start,
            before=tuple(self.given),
            reply=reply,
            started=started,
            ended=ended,
            utc_offset_s=AHEAD_S if self.abroad else time.localtime(started).tm_gmtoff,
            file=file,
            real_output_dir=None if self.output_dir is None else Path(real_path(str(self.output_dir))),
            inline_path=self.lab.profile.inline_records,
        )
        if reply.failure is not None:
            self.lab.note_failure(reply.failure, seen.label)
        self.lab.hold(seen)
        return seen

    def _undescribed(self, reply: Reply, started: float) -> str | None:
        """The path of a file that the call has written and its result names, where it has neither a descriptor nor
        records: words, a link, or a descriptor that is no JSON. None for an inline result."""
        result, raw = as_record(reply.result), reply.raw or b""
        if b".jsonl" not in raw or result.get("isError") is True or self.start.file_size_limit is not None:
            return None
        folders = [self.output_dir] if self.output_dir is not None else [self.temp, *system_temps()]
        names = {(f, n) for f in folders for n in names_in(f) if n not in self.named and self.lab.is_ours(n)}
        paths = [p for f, n in names if n.encode() in raw and written_since(p := str(f / n), started)]
        return paths[0] if len(paths) == 1 and not find_records(result, self.lab.profile.inline_records) else None

    def listing(self) -> dict[str, int]:
        """The offloaded files directly in the output folder, with their sizes: by their name, or by a header."""
        editions = [e.name for e in (self.lab.edition, *self.lab.others)]
        seen = {name: see_file(f"{self.output_dir}/{name}", self.roots) for name in self.files()}
        return {n: len(f.data) for n, f in seen.items() if f.problem is None and _is_offloaded(n, f, editions)}

    def files(self) -> list[str]:
        """The names in the output folder that are not folders."""
        return [] if self.output_dir is None else names_in(self.output_dir)

    def store(self, memory: Mapping[str, Any]) -> Reply | None:
        """Give the server one memory by the seed tool; None when the profile names none."""
        seed = self.lab.profile.seed
        if seed is None or seed.tool is None:
            return None
        with self.lock:
            reply = self.server.call_tool(seed.tool, substitute(seed.arguments, memory))
            self.given.append(reply.id)
            self._note_file(reply)
        if reply.failure is not None:
            self.lab.note_failure(reply.failure, f"{seed.tool}(…)")
        return reply

    def stored(self, memory: Mapping[str, Any]) -> bool:
        """Whether the server took one memory."""
        reply = self.store(memory)
        result: object = None if reply is None else reply.result
        return isinstance(result, dict) and cast("dict[str, Any]", result).get("isError") is not True

    def _note_file(self, reply: Reply) -> None:
        """A proxy, or a server that offloads whatever is large, names files in answers of any tool."""
        found = _descriptor(reply)
        if found is not None:
            self.named.add(os.path.basename(str(found.value.get("file_path"))))

    @property
    def has_trigger(self) -> bool:
        """Whether the profile names a way to set cleanup off, or the server lists the conventional tool."""
        listed = any(t.get("name") == "run_custodial_task" for t in self.tools)
        return self.lab.profile.cleanup is not None or listed

    def cleanup(self) -> None:
        """Set off the server's cleanup, the way the profile says, or by the conventional tool, or by a restart."""
        how = self.lab.profile.cleanup
        tool: str | None = how.tool if how is not None else None
        arguments: Mapping[str, Any] = how.arguments if how is not None else {}
        if how is None and any(t.get("name") == "run_custodial_task" for t in self.tools):
            tool, arguments = "run_custodial_task", {"task": "offload_cleanup"}
        if tool is not None:
            with self.lock:
                reply = self.server.call_tool(tool, dict(arguments))
                self.cleaned = reply.id
                self.given.append(reply.id)
                self._note_file(reply)
                self.server.drain(0.02)
        elif how is not None and how.command:
            words = [profiles.fill(w, workdir=self.workdir) for w in how.command]
            command = [w.replace("{output_dir}", str(self.output_dir)) for w in words]
            launch = self.lab.launch(self.settings, self.workdir)
            self.overheard += run_command(list(profiles.own_lro(command)), "cleanup.command", launch)
        elif how is not None and how.wait_s is not None:
            with self.lock:
                self.server.drain(how.wait_s)
        else:
            self.restart()

    def restart(self) -> None:
        """Stop the server and start it again under the same settings, in the same folders."""
        with self.lock:
            self.lab.stop(self.server)
            self.server, self.start = self.lab.spawn(self.settings, self.workdir, self.temp, self.output_dir, None)
            self.given, self.base, self.cleaned = [], 0, None
            self.lab.shake(self.server, self.client)
            self.lab.seeding.fill_again(self)

    def events(self, name: str) -> list[str]:
        """What was emitted as event *name*, with the channel before it: notifications, stderr, or the event file."""
        return [s for s in self.said() if name in s]

    def said(self) -> list[str]:
        """All that was said in any of the channels, a line each, with the channel before it."""
        with self.lock:
            self.server.drain(0.05)
            said = [f"notifications: {json.dumps(n, ensure_ascii=False)}" for n in self.server.notifications()]
            said += [f"stderr: {line}" for line in (*self.server.stderr_lines(), *self.overheard)]
        if self.lab.profile.events.file_env is not None:
            path = self.workdir / "lro-events.jsonl"
            text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            said += [f"file: {line}" for line in text.splitlines()]
        return said

    def close(self) -> None:
        """Stop the server."""
        with self.lock:
            self.lab.stop(self.server)


def names_in(folder: Path) -> list[str]:
    """The names in a folder that are not folders; none where there is no such folder."""
    return [e.name for e in os.scandir(folder) if not e.is_dir(follow_symlinks=False)] if folder.is_dir() else []


def _is_offloaded(name: str, file: FileSeen, editions: Sequence[str]) -> bool:
    named = any(parse_file_name(name, edition=e) is not None for e in editions)
    return named or any(is_header(line.value) for line in file.lines[:1])


def system_temps() -> list[Path]:
    """The system's own folders for temporary files."""
    return [Path("/tmp"), Path("/var/tmp"), Path(tempfile.gettempdir())]  # noqa: S108 - looked at, not written to


def run_command(command: Sequence[str], key: str, launch: profiles.Launch) -> list[str]:
    """Run a command of the profile to its end, in the server's environment, and return the lines of its stderr.

    Raises `ServerTrouble` when it fails.
    """
    environment = {k: v for k, v in os.environ.items() if k not in launch.unset} | dict(launch.env)
    try:
        done = subprocess.run(
            command,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=launch.cwd,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise ServerTrouble(f"{key} of the profile could not be run: {problem}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ServerTrouble(f"{key} of the profile failed with exit code {done.returncode}: {' '.join(said)}")
    return done.stderr.decode("utf-8", "replace").splitlines()


def _descriptor(reply: Reply) -> FoundDescriptor | None:
    result: object = reply.result
    return find_descriptor(cast("dict[str, Any]", result)) if isinstance(result, dict) else None
