"""Recognition of a server's events in log notifications and other channels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lro_conformance.capture.records import as_record
from lro_conformance.trials.survey import Survey


def events_in(survey: Survey, name: str) -> list[Any]:
    """The log notifications, and the lines in other channels, that are events of this *name*, by their name or their
    first word."""
    said = [as_record(s.value).get("data") for s in survey.messages if s.kind == "notifications/message"]
    said += [_line(line.partition(": ")[2]) for line in survey.event_lines]
    return [
        d for d in said if name in (as_record(d).get(k) for k in ("event", "type", "name", "kind")) or _begins(d, name)
    ]


def times(name: str, said: str, files: Iterable[str]) -> int:
    """Number of events of this *name* in one message that name different *files*; at least one."""
    return max(1, min(said.count(name), sum(file in said for file in files)))


def _line(text: str) -> object:
    """Value of a line that is JSON; the line itself if it is not."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _begins(data: Any, name: str) -> bool:
    return isinstance(data, str) and data.startswith(name)
