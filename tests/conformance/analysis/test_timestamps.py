"""Times that a server gives its memories itself, while it runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from lro_conformance.analysis.timestamps import are_newest_first, are_times_near_call
from tests.support.made_evidence import Made

NOW = datetime(2026, 11, 26, 8, 7, 12, tzinfo=UTC).timestamp()
CALL: Any = Made(started=NOW)


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("2026-11-26T08:06:00Z", "2026-11-26T08:07:00Z", True),
        ("2026-11-26T15:06:00+07:00", "2026-11-26T08:07:00+00:00", True),
        ("2026-11-26T15:06:00+07:00", "2026-11-26T08:07:00Z", True),
        ("2026-11-26T08:07:00+0000", "2026-11-26T15:06:00+0700", True),
        ("2026-11-26T08:07:00", "2026-11-26T15:06:00+0700", False),
        ("2026-11-26T08:06:00", "2026-11-26T22:06:00", True),  # one is in local time
        ("2026-11-26", "2026-11-27", True),
        ("2026-11-26T08:06:00.5Z", "2026-11-26T08:06:01Z", True),  # zeros at the end may be left out
        (NOW, NOW + 60, True),
        (int(1000 * NOW), int(1000 * NOW) - 60_000, True),
        ("2026-11-26T08:06:00Z", "2026-11-26 08:06:00 UTC", False),
        ("2026-11-26T08:06:00Z", "2026-11-26T08:06:00+00:00", False),
        ("2026-11-26T08:06:00Z", NOW, False),
        ("2026-11-20T08:06:00Z", "2026-11-26T08:06:00Z", False),
        ("2026-03-01T08:06:00Z", "2026-03-01T09:06:00Z", False),
        (NOW - 1_000_000, NOW, False),
        (10**400, NOW, False),
        ("now", "now", False),
        (True, True, False),
        (None, "2026-11-26T08:06:00Z", False),
    ],
)
def test_times_near_the_call_that_are_written_alike_are_of_the_run(one: object, other: object, are: bool) -> None:
    assert are_times_near_call(one, other, CALL) is are


@pytest.mark.parametrize(
    ("values", "are"),
    [
        (["2026-11-26T08:06:01Z", "2026-11-26T08:06:01Z", "2026-11-26T08:06:00Z"], True),
        (["2026-11-26T08:06:00Z", "2026-11-26T08:06:01Z"], False),
        ([NOW, NOW - 1], True),
        ([int(1000 * NOW), int(1000 * NOW) + 1], False),
        (["2025-11-26T08:06:00Z", "2025-11-26T08:05:00Z"], False),  # not of the run
        (["2026-11-26T08:06:01Z", None], False),
        (["b", "a"], False),
    ],
)
def test_times_of_the_run_may_be_in_the_order_of_the_newest_first(values: list[object], are: bool) -> None:
    assert are_newest_first(values, CALL) is are
