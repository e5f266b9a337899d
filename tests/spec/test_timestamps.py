from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lro_spec.timestamps import moments, parse


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T20:59:00Z",
        "2026-11-21t20:59:00z",
        "2026-11-21T22:59:00+02:00",
        "2026-11-21T22:59:00+0200",
        "2026-11-21T22:59:00+02",
        "2026-11-21T20:59:00.000000000Z",
        "2026-11-21T20:59Z",
        "20261121T205900Z",
        "2026-W47-6T20:59:00Z",
        "2026W476T205900Z",
        "2026-325T20:59:00Z",
        "2026325T205900Z",
        "2026-11-21 20:59:00,0+00:00",
    ],
)
def test_every_form_means_the_same_moment(text: str) -> None:
    assert parse(text) == datetime(2026, 11, 21, 20, 59, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-11-21T20Z", "20261121T20Z", "2026-W47-6T22+02"])
def test_an_hour_may_stand_alone(text: str) -> None:
    assert parse(text) == datetime(2026, 11, 21, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "1795294740",
        "2026-13-01T00:00:00Z",
        "2026-11-21",
        "21.11.2026 20:59",
        "2026-11-21T25:00:00Z",
        "2026-11-21T20:59:61Z",
    ],
)
def test_other_text_means_nothing(text: str) -> None:
    assert parse(text) is None
    assert moments(text) == []


@pytest.mark.parametrize("day", ["2026-W54-1", "2025-W53-1", "2026-W47-8", "2026-W47", "2026-366", "2026-000"])
def test_a_week_or_a_day_that_the_year_has_not_means_nothing(day: str) -> None:
    assert parse(f"{day}T20:59:00Z") is None


def test_without_an_offset_it_may_be_utc_or_local_time() -> None:
    assert datetime(2026, 11, 21, 20, 59, tzinfo=UTC) in moments("2026-11-21T20:59:00")


@given(st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_isoformat_comes_back(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse(aware.isoformat()) == aware
