"""Calls as MCP tasks: a result that is fetched later is offloaded like a result that comes at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.intervention import REPLACED
from lro_conformance.capture.records import as_record, by_id
from lro_conformance.judging.subjects import evidence_of, location_of
from lro_conformance.lab.broken_folder import BrokenFolder
from lro_conformance.lab.settings import Settings
from lro_conformance.trials import trial
from lro_conformance.trials.fallback import Failing
from lro_conformance.trials.survey import EDGE_LIMIT, Survey
from lro_conformance.wire.reply import Reply

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab


@dataclass(frozen=True)
class Tasked:
    """A call, and the same call as a task."""

    direct: Call
    made: Reply
    """The reply that created the task; the reply of `call` if the server created none."""
    call: Call
    """The call with the task's result."""
    status: str | None = None
    """The last status of the task; None if there was no task."""


@evidence_of.register
def _(tasked: Tasked) -> str:
    return f"→ {tasked.made.request.decode('utf-8', 'replace').strip()}\n{evidence_of(tasked.call)}"


@location_of.register
def _(tasked: Tasked) -> str:
    return location_of(tasked.call)


@dataclass(frozen=True)
class Tasks:
    """Calls of all operations whose tools may be called as tasks."""

    calls: tuple[Tasked, ...]
    failing: Failing | None = None
    """A call as a task whose result cannot be written. None if no output folder was set, if no direct call was
    offloaded, or if a call that was offloaded directly was not offloaded as a task."""


def operations_as_tasks(survey: Survey) -> Iterator[str]:
    """Operations whose tools may be called as tasks; none if the server does not declare the capability for that."""
    handshakes = [as_record(m.value) for m in survey.messages if m.kind == "initialize"]
    path = ("capabilities", "tasks", "requests", "tools", "call")
    for handshake in handshakes[:1]:
        value: object = handshake
        for key in path:
            value = as_record(value).get(key)
        if value is None:
            return
        listed = {str(t.get("name")): as_record(t.get("execution")).get("taskSupport") for t in survey.tools}
        yield from (n for n, o in survey.operations.items() if listed.get(o.tool) in ("optional", "required"))


def _reason_not_listed(survey: Survey) -> str | None:
    return None if any(operations_as_tasks(survey)) else "the server does not offer its operations as MCP tasks"


@trial("operations as MCP tasks", reason_not_listed=_reason_not_listed)
def tasks(lab: Lab, survey: Survey) -> Tasks:
    """Call each operation whose tool may be called as a task, directly and as a task."""
    with lab.bench(Settings(threshold_tokens=1 if survey.adjustable else None)) as bench:
        calls: list[Tasked] = []
        for name in (n for n in operations_as_tasks(survey) if n in bench.operations):
            direct = bench.call(name, limit=EDGE_LIMIT)
            calls.append(Tasked(direct, *bench.call_as_task(name, limit=direct.limit)))
        written = [c for c in calls if c.direct.outcome == "offloaded"]
        # Where a task is not offloaded, no write can fail, so there would be nothing to judge.
        also_as_tasks = all(c.call.outcome == "offloaded" for c in written)
        return Tasks(
            tuple(calls), _call_while_writing_fails(bench, written[0].direct) if written and also_as_tasks else None
        )


def _call_while_writing_fails(bench: Bench, direct: Call) -> Failing | None:
    """Repeat the call *direct*, which was offloaded, as a task and while its result cannot be written."""
    if bench.output_dir is None:
        return None
    threshold = bench.settings.get("threshold_tokens")
    earlier = Counter(bench.events("OffloadWriteFailed"))
    with BrokenFolder(bench.output_dir, REPLACED):
        _, call, status = bench.call_as_task(direct.operation, limit=direct.limit)
    return Failing(
        kind=REPLACED,
        call=call,
        threshold=threshold if isinstance(threshold, int) else 1,
        server=bench.server.pid,
        original=direct,
        known=by_id(direct.file_records),
        alive=bench.server.alive,
        events=tuple((Counter(bench.events("OffloadWriteFailed", earlier.total())) - earlier).elements()),
        first=True,
        events_observable=bench.profile.events.observable,
        new_entries=(),
        task_status=status,
    )
