"""One tool call and everything that was seen of it: the lines, the descriptor, the file as it was when named."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import orjson

from lro_conformance.records import Record, find_records, show, text_of, wide_characters
from lro_spec.messages import FoundDescriptor, find_descriptor
from lro_spec.strictjson import DEEPEST, StrictJsonError, loads, too_deep

if TYPE_CHECKING:
    from lro_conformance.starts import Start
    from lro_conformance.wire.process import Reply

_SURROGATE = re.compile("[\ud800-\udbff\udc00-\udc7f\udd00-\udfff]")
"""What stands for no byte of a file's name."""

Outcome = Literal["inline", "offloaded", "error", "no answer"]

MAX_FILE_BYTES = 64 * 1024 * 1024
"""A larger file is not read: the suite asks for results of a few megabytes at most."""

LINE_BYTES = 400
"""What a line of a file takes beside its text."""

OBJECT_BYTES = 300
"""What an object of an answer takes beside its text."""

MAX_ESTIMATE = 2**53
"""A greater E is none: no result has so many tokens, and no double could hold what is computed with it."""


@dataclass(frozen=True)
class Line:
    """One line of a file, counted from 1."""

    number: int
    raw: bytes
    value: Any
    problem: str | None

    @property
    def record(self) -> Record | None:
        """The object on this line; None where there is none."""
        value: object = self.value
        return cast("Record", value) if isinstance(value, dict) else None


@dataclass(frozen=True)
class FileSeen:
    """A file as it was at the moment a descriptor named it."""

    path: str
    problem: str | None = None
    """Why it could not be read; None when it was."""
    data: bytes = b""
    mode: int | None = None
    mtime: float | None = None
    real: str | None = None
    """The path without links, as it was then; None where it is no path of a file."""
    lately: bool = True
    """Whether what stands there may have been written by the call that named it."""

    @cached_property
    def lines(self) -> list[Line]:
        """The lines, each parsed strictly; a missing newline at the end is no fault."""
        raw = self.data.split(b"\n")
        if not raw[-1]:
            raw.pop()
        return [_line(number, text) for number, text in enumerate(raw, 1)]

    @cached_property
    def header(self) -> Record | None:
        """The header object: that of the first line, or else the first line marked as one."""
        first = self.lines[0].record if self.lines else None
        if first is not None and ("type" in first or "operation" in first):
            return first
        return next((o for line in self.lines if (o := line.record) is not None and is_header(o)), None)

    @cached_property
    def record_lines(self) -> list[Line]:
        """The lines that are not headers, blank ones left out."""
        header = self.header
        return [
            line
            for line in self.lines
            if line.raw.strip() and (line.record is None or line.record is not header) and not is_header(line.value)
        ]

    @cached_property
    def characters(self) -> int:
        """The characters of the record lines."""
        lines = (line.raw for line in self.record_lines if line.record is not None)
        return sum(len(raw.decode("utf-8", "replace")) for raw in lines)

    @cached_property
    def scripts(self) -> tuple[int, int, int]:
        """How many characters of the record lines are of a wide script, are escapes (``\\uXXXX``), and are neither."""
        lines = (line.raw for line in self.record_lines if line.record is not None)
        text = b"".join(lines).decode("utf-8", "replace")
        wide, escapes = wide_characters(text), text.count("\\u")
        return wide, escapes, len(text) - wide - 6 * escapes

    @cached_property
    def records(self) -> list[Record]:
        """The record lines that are objects."""
        return [r for line in self.record_lines if (r := line.record) is not None]

    def evidence(self) -> str:
        """Where to look."""
        return f"file {self.path}"


@dataclass(frozen=True)
class Call:
    """One call of an operation's tool."""

    operation: str
    tool: str
    arguments: Mapping[str, Any]
    detail: str | None
    """The detail level asked for; None when the tool's default was left to apply."""
    limit: int | None
    query: str | None
    start: Start
    """The server process that was asked."""
    before: tuple[int, ...]
    """The ids of the requests that gave this process what it holds: memories stored, cleanups set off."""
    reply: Reply
    started: float
    """Seconds since the epoch."""
    ended: float
    utc_offset_s: int
    """What the server's local time was ahead of UTC then, in seconds."""
    file: FileSeen | None
    real_output_dir: Path | None
    """The output folder that was set, without links, as it was then."""
    inline_path: str | None = None

    @property
    def settings(self) -> Mapping[str, object]:
        """The LRO settings that the server was started with."""
        return self.start.settings

    @property
    def command(self) -> tuple[str, ...]:
        """The command that started the server."""
        return self.start.argv

    @property
    def output_dir(self) -> Path | None:
        """The output folder that was set; None where none was."""
        return self.start.output_dir

    @property
    def local(self) -> timezone:
        """The zone of local time then."""
        return timezone(timedelta(seconds=self.utc_offset_s))

    @property
    def result(self) -> Record | None:
        """The result as MCP has it; None where the call was not answered, or not by an object."""
        value: object = self.reply.result
        return cast("Record", value) if isinstance(value, dict) else None

    @cached_property
    def found(self) -> FoundDescriptor | None:
        """The descriptor in the result, if there is one; what a memory quotes is none: its file is not of this call."""
        found = find_descriptor(self.result) if self.result is not None else None
        quoted = found is not None and found.around.strip() and self.file is not None and not self.file.lately
        return None if quoted else found

    @cached_property
    def undescribed(self) -> bool:
        """Whether the result names a file that the call has written, and there is no descriptor in it."""
        return self.file is not None and self.result is not None and find_descriptor(self.result) is None

    @property
    def descriptor(self) -> Record:
        """The descriptor; empty when there is none."""
        return dict(self.found.value) if self.found is not None else {}

    @cached_property
    def outcome(self) -> Outcome:
        """What came of the call."""
        if self.result is None:
            return "error" if self.reply.error is not None else "no answer"
        if self.found is not None or self.undescribed:
            return "offloaded"
        return "error" if self.result.get("isError") is True else "inline"

    @cached_property
    def records(self) -> list[Record] | None:
        """The records of an inline result; None where none could be found in it."""
        return find_records(self.result, self.inline_path) if self.outcome == "inline" else None

    @cached_property
    def text(self) -> str:
        """All text of the result."""
        return text_of(self.result)

    @property
    def summary(self) -> Record:
        """The descriptor's summary; empty when there is none."""
        value = self.descriptor.get("summary")
        return cast("Record", value) if isinstance(value, dict) else {}

    @property
    def path(self) -> str:
        """The path of the file that was named; empty where none was."""
        return self.file.path if self.file is not None else ""

    @property
    def header(self) -> Record:
        """The file's header; empty when there is none."""
        return (self.file.header or {}) if self.file is not None else {}

    @property
    def filed(self) -> list[Record]:
        """The records of the file."""
        return self.file.records if self.file is not None else []

    @cached_property
    def estimate(self) -> int | None:
        """E, the server's own estimate of the result set: the header's, or else the summary's."""
        for value in (self.header.get("estimated_tokens"), self.summary.get("estimated_tokens")):
            if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_ESTIMATE:
                return value
        return None

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes once everything in it was looked at."""
        data = self.file.data if self.file is not None else b""
        raw = self.reply.raw or b""
        return 3 * len(raw) + OBJECT_BYTES * raw.count(b"{") + 2 * len(data) + LINE_BYTES * data.count(b"\n")

    @property
    def label(self) -> str:
        """The call in a few words."""
        parts = [f"{k}={show(v, 40)}" for k, v in self.arguments.items()]
        return f"{self.tool}({', '.join(parts)})"

    def reproducer(self, *, among: bool = False) -> str:
        """A command for bash that makes this call once more; *among* the others of its process where those matter."""
        from lro_conformance.reproducing import of_call, of_call_among_others

        return of_call_among_others(self) if among else of_call(self)

    def location(self) -> str:
        """Where its request stands in recorded evidence; empty where nothing is recorded."""
        line = self.start.lines.get(self.reply.id)
        return "" if line is None else f"{self.start.folder}/transcript.jsonl:{line}"

    def evidence(self) -> str:
        """What to look at: the settings, the command, the request line, the start of the answer and of the file."""
        settings = " ".join(f"{k}={v}" for k, v in self.settings.items()) or "none (defaults)"
        lines = [
            f"settings: {settings}",
            f"command: {' '.join(self.command)}",
            f"→ {self.reply.request.decode('utf-8', 'replace').strip()}",
            f"← {_answer(self.reply)}",
        ]
        if self.file is not None:
            lines.append(f"file: {self.file.path}")
            if self.file.data:
                lines.append(f"line 1: {_beginning(self.file.data)}")
        return "\n".join(lines)


class OfACall:
    """What a call shows: it is shown once more by that call."""

    call: Call

    def reproducer(self) -> str:
        """A command for bash that makes the call once more."""
        return self.call.reproducer()

    def location(self) -> str:
        """Where the call stands in recorded evidence; empty where nothing is recorded."""
        return self.call.location()


@dataclass(frozen=True)
class Among(OfACall):
    """A call that is seen among others only: it is shown once more with all that its process was asked before, and with
    what was in flight beside it."""

    call: Call

    def evidence(self) -> str:
        """What to look at: the call."""
        return self.call.evidence()

    def reproducer(self) -> str:
        """A command for bash that makes all of these calls once more."""
        return self.call.reproducer(among=True)


def is_header(value: Any) -> bool:
    """Whether a parsed line is marked as a header."""
    return isinstance(value, dict) and cast("Record", value).get("type") == "lro_header"


def real_path(path: str) -> str:
    """A path without links; what no file can be called stays as it is."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # NUL, a lone surrogate
        return path


def written_since(path: str, moment: float) -> bool:
    """Whether a file is there that was written after a moment, or a little before it: some clocks are coarse.

    A relative path may be any file."""
    try:
        return not os.path.isabs(path) or os.lstat(path).st_mtime >= moment - 2
    except (OSError, ValueError):  # NUL, a lone surrogate
        return False


def see_file(path: object, roots: tuple[Path, ...]) -> FileSeen:
    """Read the file that a descriptor names, at once, if it lies below one of *roots* and is a regular file.

    A path outside is the server's word only; it is not followed, since its contents would end up in a report.
    """
    if not isinstance(path, str) or not path:
        return FileSeen(str(path), f"file_path is {show(path)}")
    if _SURROGATE.search(path) or "\0" in path or len(path) > 4096:
        return FileSeen(path, "no path of a file")
    real = Path(real_path(path))
    if not any(real.is_relative_to(root) for root in roots):
        problem = "lies outside of every folder that the server was given; not read"
        return FileSeen(path, problem, real=str(real))
    try:
        descriptor = os.open(real, os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe may stand there, or a link by now
    except OSError as problem:
        return FileSeen(path, f"cannot be opened: {problem.strerror}", real=str(real))
    seen = os.fstat(descriptor)
    if not stat.S_ISREG(seen.st_mode):
        os.close(descriptor)
        return FileSeen(path, "is not a regular file", real=str(real))
    with os.fdopen(descriptor, "rb") as stream:
        if seen.st_size > MAX_FILE_BYTES:
            problem = f"has {seen.st_size} bytes, more than {MAX_FILE_BYTES} are not read"
            return FileSeen(path, problem, real=str(real))
        data = stream.read(MAX_FILE_BYTES)
    return FileSeen(path, None, data, stat.S_IMODE(seen.st_mode), seen.st_mtime, str(real))


def _line(number: int, raw: bytes) -> Line:
    try:
        value = orjson.loads(raw)
        if raw.count(b"{") + raw.count(b"[") <= DEEPEST or not too_deep(value):
            return Line(number, raw, value, None)
    except orjson.JSONDecodeError:
        pass
    try:
        return Line(number, raw, loads(raw), None)
    except StrictJsonError as problem:
        first = str(problem)
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        value = None
    return Line(number, raw, None if too_deep(value) else value, first)


def _beginning(data: bytes) -> str:
    first = data.partition(b"\n")[0]
    return first[:400].decode("utf-8", "replace").strip() + ("" if len(first) <= 400 else f" … ({len(first)} bytes)")


def _answer(reply: Reply) -> str:
    if reply.raw is None:
        failure = reply.failure
        return f"(no answer: {failure.kind}: {failure.detail})" if failure is not None else "(no answer)"
    text = reply.raw[:2000].decode("utf-8", "replace").strip()
    return text if len(reply.raw) <= 2000 else text + f" … ({len(reply.raw)} bytes)"
