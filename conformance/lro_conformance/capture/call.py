"""One tool call with everything that was observed about it."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.records import Path as MemberPath
from lro_conformance.capture.records import Record, by_id, find_records, id_of, show, text_of, volatile_paths
from lro_conformance.judging.subjects import IN_FLIGHT, SHARED_FILE, Marked
from lro_spec.jsonl.values import whole_number
from lro_spec.messages import FoundDescriptor, find_descriptor

if TYPE_CHECKING:
    from lro_conformance.capture.start import Start
    from lro_conformance.wire.reply import Reply

Outcome = Literal["inline", "offloaded", "error", "no answer"]

Identity = tuple[int, int]
"""The number of a server start and the id of a request: what tells one call of a run from all others."""

LINE_OVERHEAD_BYTES = 400
"""RAM that a parsed line of a file takes in addition to its text, in bytes (approximate)."""

OBJECT_OVERHEAD_BYTES = 300
"""RAM that a parsed JSON object of an answer takes in addition to its text, in bytes (approximate)."""

MAX_ESTIMATE = 2**53
"""The largest valid E: no result has more tokens, and a double cannot represent every larger integer."""


@dataclass(frozen=True)
class Call:
    """One call of an operation's tool."""

    operation: str
    tool: str
    arguments: Mapping[str, Any]
    detail: str | None
    """The requested detail level; None if the tool's default applies."""
    limit: int | None
    query: str | None
    start: Start
    """The server process that was called."""
    before: tuple[int, ...]
    """Ids of earlier requests that changed the state of this process by storing memories or triggering cleanup."""
    reply: Reply
    started: float
    """Seconds since the epoch."""
    ended: float
    utc_offset_s: int
    """Seconds by which the server's local time was ahead of UTC at the time of the call."""
    file: FileSeen | None
    real_output_dir: Path | None
    """The configured output folder with links resolved at the time of the call."""
    in_reply: FoundDescriptor | None
    """The first descriptor in the result (`descriptor_in`), which may merely be quoted by a memory."""
    inline_path: str | None = None
    """The jq path of the records in an inline result (profile: inline.records); None to search for them."""

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
        """The configured output folder; None if none was set."""
        return self.start.output_dir

    @property
    def local(self) -> timezone:
        """The server's local time zone at the time of the call."""
        return timezone(timedelta(seconds=self.utc_offset_s))

    @property
    def result(self) -> Record | None:
        """The `result` member of the reply; None if there is no reply, or if that member is not an object."""
        value: object = self.reply.result
        return cast("Record", value) if isinstance(value, dict) else None

    @property
    def found(self) -> FoundDescriptor | None:
        """The descriptor of this result; None if there is none, or if it is only quoted in other text: there is text
        around it, and this call did not write its file."""
        found, file = self.in_reply, self.file
        return None if found is not None and found.around.strip() and file is not None and not file.lately else found

    @property
    def lacks_descriptor(self) -> bool:
        """True if the result names a file that the call has written, without a descriptor."""
        return self.file is not None and self.result is not None and self.in_reply is None

    @property
    def descriptor(self) -> Record:
        """The descriptor; empty if there is none."""
        return dict(self.found.value) if self.found is not None else {}

    @cached_property
    def computed(self) -> dict[object, Any]:
        """Cache of values that are derived from this call. A key is the function that computes the value, the function
        with its other arguments, or these arguments."""
        return {}

    @cached_property
    def outcome(self) -> Outcome:
        """Outcome of the call."""
        if self.result is None:
            return "error" if self.reply.error is not None else "no answer"
        if self.found is not None or self.lacks_descriptor:
            return "offloaded"
        return "error" if self.result.get("isError") is True else "inline"

    @cached_property
    def records(self) -> list[Record] | None:
        """The records of an inline result; None if none could be found."""
        return find_records(self.result, self.inline_path) if self.outcome == "inline" else None

    @cached_property
    def order(self) -> tuple[str | None, ...]:
        """The ids of the records of an inline result, in their order."""
        return tuple(map(id_of, self.records or []))

    @cached_property
    def text(self) -> str:
        """All text of the result."""
        return text_of(self.result)

    @property
    def summary(self) -> Record:
        """The descriptor's summary; empty if there is none."""
        value = self.descriptor.get("summary")
        return cast("Record", value) if isinstance(value, dict) else {}

    @property
    def path(self) -> str:
        """The path of the file that the result names, with or without a descriptor; empty if it names none."""
        return self.file.path if self.file is not None else ""

    @property
    def header(self) -> Record:
        """The file's header; empty if there is none."""
        return (self.file.header or {}) if self.file is not None else {}

    @property
    def file_records(self) -> list[Record]:
        """The records in the file."""
        return self.file.records if self.file is not None else []

    @cached_property
    def file_ids(self) -> frozenset[str]:
        """The ids of the records in the file."""
        return frozenset(by_id(self.file_records))

    @cached_property
    def estimate(self) -> int | None:
        """E, the server's own estimate of the result set: the header's, or else the summary's."""
        for value in (self.header.get("estimated_tokens"), self.summary.get("estimated_tokens")):
            whole = whole_number(value)
            if whole is not None and abs(whole) <= MAX_ESTIMATE:
                return whole
        return None

    @property
    def weight(self) -> int:
        """Approximate RAM of the call in bytes, once its reply and its file have been parsed."""
        data = self.file.data if self.file is not None else b""
        raw = self.reply.raw or b""
        overhead = OBJECT_OVERHEAD_BYTES * raw.count(b"{") + LINE_OVERHEAD_BYTES * data.count(b"\n")
        return 3 * len(raw) + 2 * len(data) + overhead

    @property
    def identity(self) -> Identity:
        """Equal for all `Call` objects of one request, such as a copy whose file was read again later."""
        return self.start.number, self.reply.id

    @property
    def label(self) -> str:
        """The call in a few words."""
        parts = [f"{k}={show(v, 40)}" for k, v in self.arguments.items()]
        return f"{self.tool}({', '.join(parts)})"


class CallSubject:
    """Base class of subjects whose evidence, script and location are, by default, those of one call."""

    call: Call


@dataclass(frozen=True)
class CallInContext(CallSubject):
    """A call whose failure shows only in context; its script also makes the calls before it, and some after it."""

    call: Call
    subject: object = None
    """The subject that shows the failure; None for the call itself."""


@dataclass(frozen=True)
class CallAfterOthers(CallSubject):
    """A call that depends on earlier calls of its process; its script makes these first."""

    call: Call
    earlier: tuple[Call, ...] | None = None
    """The calls that it depends on; None for all earlier calls of its process."""


@dataclass(frozen=True)
class ComparedCall(CallSubject):
    """A call that differs from another one, made by a server with other settings; its script makes both."""

    call: Call
    other: Call
    setting: str
    """The other call's setting, in words: ``with LRO off``."""


def shared_paths(calls: Iterable[Call]) -> frozenset[str]:
    """Paths of files that several calls name."""
    named: dict[str, set[Identity]] = {}
    for call in calls:
        named.setdefault(call.path, set()).add(call.identity)
    return frozenset(path for path, by in named.items() if path and len(by) > 1)


def named_before(calls: Collection[Call]) -> frozenset[Identity]:
    """The calls whose file an earlier call has named: that earlier call may be the cause of a defect of the file.

    The first call that names a file is not included, because it found the file as it had written it itself.
    """
    first: dict[str, Identity] = {}
    for call in sorted(calls, key=lambda c: c.identity):
        first.setdefault(call.path, call.identity)
    return frozenset(c.identity for c in calls if c.path and first[c.path] != c.identity)


def in_shared_file(call: Call, shared: Collection[str], at: object) -> object:
    """The subject *at* of a call, with the place `SHARED_FILE` if the call's file is one of the *shared* paths."""
    return Marked(at, None, SHARED_FILE) if call.path in shared else at


def mark_if_indirect(calls: Iterable[Call], repeated: Container[Identity], at: object, *, in_flight: bool) -> object:
    """The subject *at*, marked with a place if a different call may be the cause of its failure.

    The place is `SHARED_FILE` if one of *calls* is in *repeated* (from `named_before`), otherwise `IN_FLIGHT` if
    *in_flight*.
    """
    if any(c.identity in repeated for c in calls):
        return Marked(at, None, SHARED_FILE)
    return Marked(at, None, IN_FLIGHT) if in_flight else at


def descriptor_in(reply: Reply) -> FoundDescriptor | None:
    """The first descriptor in the result of a reply; None if there is none."""
    result: object = reply.result
    return find_descriptor(cast("Record", result)) if isinstance(result, dict) else None


def volatile_between(one: Call, other: Call) -> set[MemberPath]:
    """Paths at which records with the same id or title differ between two calls that should return the same values."""
    key = volatile_between, id(other)  # id() is safe: the evidence keeps both calls alive
    if key not in one.computed:
        one.computed[key] = volatile_paths(one.records or [], other.records or [])
    return one.computed[key]


def died(call: Call) -> bool:
    """True if the server ended before it answered."""
    return call.reply.failure is not None and call.reply.failure.kind == "exited"
