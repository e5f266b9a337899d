"""Events among what a server said when nothing failed and nothing expired."""

from __future__ import annotations

from typing import Any

from lro_conformance.records import as_record
from lro_conformance.trials.survey import Survey


def events_in(survey: Survey, name: str) -> list[Any]:
    """The log notifications that are, by what they are called or how they begin, events of this *name*."""
    logged = [as_record(s.value).get("data") for s in survey.messages if s.kind == "notifications/message"]
    return [
        d
        for d in logged
        if name in (as_record(d).get(k) for k in ("event", "type", "name", "kind")) or _begins(d, name)
    ]


def _begins(data: Any, name: str) -> bool:
    return isinstance(data, str) and data.startswith(name)
