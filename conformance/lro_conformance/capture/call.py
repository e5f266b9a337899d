"""One tool call with everything that was observed about it.

A *subject* is what a check examines, such as a call (`lro_conformance.judging.subjects`). E is the server's estimate of
the number of tokens in a result; the server compares it with the threshold.
"""

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
from lro_conformance.judging.subjects import CONCURRENT_CALL, SHARED_FILE, MarkedSubject
from lro_spec.jsonl.values import whole_number
from lro_spec.messages import FoundDescriptor, find_descriptor

if TYPE_CHECKING:
    from lro_conformance.capture.start import Start
    from lro_conformance.wire.reply import Reply

Outcome = Literal["inline", "offloaded", "error", "no answer"]

Identity = tuple[int, int]
"""The number of a server start and the id of a request. Together, they identify a call in a run."""

LINE_OVERHEAD_BYTES = 400
"""RAM that a parsed line of a file takes in addition to its text, in bytes (approximate)."""

OBJECT_OVERHEAD_BYTES = 300
"""RAM that a parsed JSON object of an answer takes in addition to its text, in bytes (approximate)."""

MAX_ESTIMATE = 2**53
"""The largest valid E. No result has more tokens, and not every larger integer can be represented by a double."""


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
    """Ids of the earlier requests that changed the state of this process: they stored memories or triggered cleanup."""
    reply: Reply
    started: float
    """The time at which the call began, in seconds since the epoch."""
    ended: float
    """The time at which the call ended, in seconds since the epoch."""
    utc_offset_s: int
    """Seconds by which the server's local time was ahead of UTC at the time of the call."""
    file: FileSeen | None
    real_output_dir: Path | None
    """The configured output folder with links resolved at the time of the call."""
    in_reply: FoundDescriptor | None
    """The first descriptor in the result (`descriptor_in`). It may merely be a quotation in the text of a memory."""
    inline_path: str | None = None
    """The jq path of the records in an inline result (profile: inline.records); None if they have to be searched
    for."""

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
    def time_zone(self) -> timezone:
        """The server's local time zone at the time of the call."""
        return timezone(timedelta(seconds=self.utc_offset_s))

    @property
    def result(self) -> Record | None:
        """The `result` member of the reply; None if there is no reply, or if that member is not an object."""
        value: object = self.reply.result
        return cast("Record", value) if isinstance(value, dict) else None

    @property
    def found_descriptor(self) -> FoundDescriptor | None:
        """The descriptor of this result; None if there is none, or if other text merely quotes a descriptor.

        A descriptor counts as quoted if there is text around it and the file that it names was not written by this
        call.
        """
        descriptor, file = self.in_reply, self.file
        return (
            None
            if descriptor is not None
            and descriptor.surrounding_text.strip()
            and file is not None
            and not file.may_be_written_by_call
            else descriptor
        )

    @property
    def lacks_descriptor(self) -> bool:
        """True if the result has no descriptor, but names a file that the call has written."""
        return self.file is not None and self.result is not None and self.in_reply is None

    @property
    def descriptor(self) -> Record:
        """The descriptor; empty if there is none."""
        return dict(self.found_descriptor.value) if self.found_descriptor is not None else {}

    @cached_property
    def computed(self) -> dict[object, Any]:
        """Cache of values that are derived from this call.

        If a function has no argument besides the call, it is the key of its value. Otherwise, the key is a tuple of the
        further arguments, with or without the function.
        """
        return {}

    @cached_property
    def outcome(self) -> Outcome:
        """Outcome of the call."""
        if self.result is None:
            return "error" if self.reply.error is not None else "no answer"
        if self.found_descriptor is not None or self.lacks_descriptor:
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
        """The path of the file that the result names in a descriptor or elsewhere; empty if the result names no
        file."""
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
        """E, the server's own estimate of the tokens in the result set. It is taken from the header of the file or, if
        the header has no valid one, from the summary of the descriptor. None if neither states a valid E."""
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
        """A key of the request. It is equal for all `Call` objects of the request, for example for a copy that was made
        because the file was read again later."""
        return self.start.number, self.reply.id

    @property
    def label(self) -> str:
        """The call in a few words."""
        parts = [f"{k}={show(v, 40)}" for k, v in self.arguments.items()]
        return f"{self.tool}({', '.join(parts)})"


class CallSubject:
    """Base class of subjects that belong to one call.

    By default, a report shows the evidence of this call, the script that reproduces it, and its location in recorded
    evidence.
    """

    call: Call


@dataclass(frozen=True)
class CallInContext(CallSubject):
    """A call that fails only in the context of other calls. Its script also makes the calls before it, and some of the
    calls after it."""

    call: Call
    subject: object = None
    """The subject that shows the failure; None for the call itself."""


@dataclass(frozen=True)
class CallAfterOthers(CallSubject):
    """A call that depends on earlier calls of its process; its script makes these first."""

    call: Call
    earlier: tuple[Call, ...] | None = None
    """The calls on which it depends; None if it depends on all earlier calls of its process."""


@dataclass(frozen=True)
class ComparedCall(CallSubject):
    """A call whose result differs from the result of the same call to a server with other settings. Its script makes
    both calls."""

    call: Call
    other: Call
    setting: str
    """The settings of the other call's server, in words: ``with LRO off``."""


def shared_paths(calls: Iterable[Call]) -> frozenset[str]:
    """Paths of the files that are named by several calls."""
    callers: dict[str, set[Identity]] = {}
    for call in calls:
        callers.setdefault(call.path, set()).add(call.identity)
    return frozenset(path for path, identities in callers.items() if path and len(identities) > 1)


def named_before(calls: Collection[Call]) -> frozenset[Identity]:
    """The calls whose file had already been named by an earlier call.

    The earlier call may then be the cause of a defect in the file. The first call that names a file is not included,
    because the file was then as this call had written it.
    """
    first_call: dict[str, Identity] = {}
    for call in sorted(calls, key=lambda c: c.identity):
        first_call.setdefault(call.path, call.identity)
    return frozenset(c.identity for c in calls if c.path and first_call[c.path] != c.identity)


def in_shared_file(call: Call, shared: Collection[str], subject: object) -> object:
    """The *subject* of a call. If the path of the call's file is one of the *shared* paths, the subject is marked with
    `SHARED_FILE`, which stands for the possible cause of a failure."""
    return MarkedSubject(subject, None, SHARED_FILE) if call.path in shared else subject


def mark_if_indirect(
    calls: Iterable[Call], repeated: Container[Identity], subject: object, *, in_flight: bool
) -> object:
    """The *subject*, marked with the possible cause of its failure if that cause is a different call.

    If one of the *calls* is in *repeated*, the result of `named_before`, the mark is `SHARED_FILE`. Otherwise, if other
    calls were under way at the same time (*in_flight*), the mark is `CONCURRENT_CALL`.
    """
    if any(c.identity in repeated for c in calls):
        return MarkedSubject(subject, None, SHARED_FILE)
    return MarkedSubject(subject, None, CONCURRENT_CALL) if in_flight else subject


def descriptor_in(reply: Reply) -> FoundDescriptor | None:
    """The first descriptor in the result of a reply; None if there is none."""
    result: object = reply.result
    return find_descriptor(cast("Record", result)) if isinstance(result, dict) else None


def volatile_between(first: Call, second: Call) -> set[MemberPath]:
    """Paths of fields whose values differ between two calls that should return the same values. Records of the two
    calls are paired by id or title."""
    key = volatile_between, id(second)  # id() is safe: the evidence keeps both calls alive
    if key not in first.computed:
        first.computed[key] = volatile_paths(first.records or [], second.records or [])
    return first.computed[key]


def died(call: Call) -> bool:
    """True if the server ended before it answered."""
    return call.reply.failure is not None and call.reply.failure.kind == "exited"
