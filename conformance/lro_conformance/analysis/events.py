"""Recognition of a server's events in log notifications and other channels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lro_conformance.capture.records import as_record
from lro_conformance.trials.survey import Survey


def events_in(survey: Survey, name: str) -> list[Any]:
    """The events with this *name* in log notifications and in the lines of other channels.

    If an event is an object, its name is the value of `event`, `type`, `name` or `kind`. If it is a text, it begins
    with the name.
    """
    found = [as_record(s.value).get("data") for s in survey.messages if s.kind == "notifications/message"]
    found += [_line(line.partition(": ")[2]) for line in survey.event_lines]
    return [
        d for d in found if name in (as_record(d).get(k) for k in ("event", "type", "name", "kind")) or _begins(d, name)
    ]


def number_of_events(name: str, message: str, files: Iterable[str]) -> int:
    """Number of events with this *name* in a message. It is not greater than the number of those *files* that the
    message names, but at least one."""
    return max(1, min(message.count(name), sum(file in message for file in files)))


def _line(text: str) -> object:
    """The value of a line of JSON; the line itself if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _begins(data: Any, name: str) -> bool:
    return isinstance(data, str) and data.startswith(name)
