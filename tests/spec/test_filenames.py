"""File names and the ULIDs in them."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta, timezone

import pytest
import ulid
from hypothesis import given
from hypothesis import strategies as st

from lro_spec.editions import EDITIONS
from lro_spec.filenames import FileName, file_name, parse_file_name, ulid_at, ulid_time

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def parsed(name: str, edition: str = "lro-6400") -> FileName:
    found = parse_file_name(name, edition=edition)
    assert found is not None
    return found


def test_a_name_is_prefix_operation_ulid():
    assert file_name("recall", ulid=ULID) == f"atlatl-recall-{ULID}.jsonl"
    assert file_name("anything", edition="lro-paper", ulid=ULID) == f"lro-anything-{ULID}.jsonl"


@pytest.mark.parametrize("operation", ["list", "", "re call", "../x", "Recall"])
def test_an_operation_that_the_edition_does_not_know_is_refused(operation: str):
    with pytest.raises(ValueError, match="unknown operation"):
        file_name(operation)


@pytest.mark.parametrize("operation", ["", "a b", "a/b", "-a", "a.b", "é"])
def test_a_word_that_is_no_part_of_a_file_name_is_refused(operation: str):
    with pytest.raises(ValueError, match="cannot be part"):
        file_name(operation, edition="lro-paper")


@given(st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC)), st.sampled_from(["recall", "search"]))
def test_a_name_gives_back_its_parts(when: datetime, operation: str):
    ulid = ulid_at(when)
    found = parsed(file_name(operation, ulid=ulid))
    assert (found.prefix, found.operation, found.ulid) == ("atlatl", operation, ulid)
    assert timedelta(0) <= when - found.created < timedelta(milliseconds=1)
    assert ulid_time(ulid) == found.created
    assert len(found.random) == 10


def test_new_names_are_of_now_and_share_no_random_part():
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    names = [parsed(file_name("recall")) for _ in range(200)]
    assert all(before <= n.created <= datetime.now(UTC) for n in names)
    assert len({n.random for n in names}) == 200
    numbers = sorted(int.from_bytes(n.random) for n in names)
    assert min(b - a for a, b in itertools.pairwise(numbers)) > 1


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(
    "name",
    [
        "",
        f"{{}}-recall-{ULID}.json",
        f"{{}}-recall-{ULID}.jsonl ",
        f"{{}}-recall-{ULID}.jsonl\n",
        f"{{}}-recall-{ULID}.jsonl.tmp",
        f".{{}}-recall-{ULID}.jsonl",
        f"dir/{{}}-recall-{ULID}.jsonl",
        f"{{}}--{ULID}.jsonl",
        f"{{}}-{ULID}.jsonl",
        f"{{}}-recall-{ULID[:-1]}.jsonl",
        f"{{}}-recall-{ULID}0.jsonl",
        f"{{}}-recall-{ULID[:-1]}U.jsonl",
        f"{{}}-recall-{ULID[:-1]}I.jsonl",
        f"{{}}-recall-{ULID[:-1]}l.jsonl",
        f"{{}}-recall-{ULID[:-1]}O.jsonl",
        f"{{}}-recall-{ULID[:-1]}٣.jsonl",
        f"{{}}-recall-8{ULID[1:]}.jsonl",
        f"{{}}-recall-{'Z' * 26}.jsonl",
        f"other-recall-{ULID}.jsonl",
    ],
)
def test_what_does_not_follow_the_convention_has_no_parts(name: str, edition: str):
    assert parse_file_name(name.format(EDITIONS[edition].file_prefix), edition=edition) is None


def test_any_operation_is_read_so_that_a_wrong_one_can_be_named():
    assert parsed(f"atlatl-recall_memories-{ULID}.jsonl").operation == "recall_memories"
    assert parsed(f"atlatl-get-all-{ULID}.jsonl").operation == "get-all"


def test_a_lower_case_ulid_is_read_and_shown_as_written():
    found = parsed(f"atlatl-recall-{ULID.lower()}.jsonl")
    assert found.ulid == ULID.lower()
    assert found.created == ulid_time(ULID)


def test_a_time_after_the_year_9999_is_read_safely():
    last = "7ZZZZZZZZZ" + "0" * 16
    found = parsed(f"atlatl-recall-{last}.jsonl")
    assert found.created == datetime.max.replace(tzinfo=UTC)
    assert found.milliseconds == 2**48 - 1
    assert ulid_time(last) == found.created


@pytest.mark.parametrize("text", ["", "not a ulid", "8" + "0" * 25, "0" * 25 + "U"])
def test_what_is_no_ulid_is_refused(text: str):
    with pytest.raises(ValueError, match="is not a ULID"):
        ulid_time(text)
    with pytest.raises(ValueError, match="is not a ULID"):
        file_name("recall", ulid=text)


def test_a_moment_a_ulid_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="aware"):
        ulid_at(datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="1970"):
        ulid_at(datetime(1969, 12, 31, 23, tzinfo=UTC))


def test_a_ulid_holds_the_moment_whatever_the_zone():
    zone = timezone(timedelta(hours=5, minutes=30))
    assert ulid_time(ulid_at(datetime(2026, 3, 1, 5, 30, tzinfo=zone))) == datetime(2026, 3, 1, tzinfo=UTC)


def test_a_known_ulid_has_its_known_time():
    assert ulid_time(ULID) == datetime(2016, 7, 30, 23, 54, 10, 259000, tzinfo=UTC)


@given(st.integers(0, 2**128 - 1))
def test_a_ulid_is_read_as_python_ulid_reads_it(number: int):
    text = str(ulid.ULID.from_int(number))
    for spelling in (text, text.lower()):
        found = parsed(f"atlatl-recall-{spelling}.jsonl")
        assert found.milliseconds.to_bytes(6) + found.random == ulid.ULID.from_int(number).bytes
