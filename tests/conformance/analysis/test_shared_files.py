"""Failures with a reason elsewhere: a file that several calls name, calls in flight, a wrong E in headers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lro_conformance import profile as profiles
from lro_conformance.analysis.documents import Documents
from lro_conformance.capture.call import Call, in_shared_file, mark_if_indirect, named_before, shared_paths
from lro_conformance.capture.file import FileSeen
from lro_conformance.engine.capture import DEFAULT_SEQUENCES
from lro_conformance.engine.run import certify
from lro_conformance.judging.subjects import (
    CONCURRENT_CALL,
    DETAIL_EVERYWHERE,
    ESTIMATE_IN_HEADERS,
    OPERATION_EVERYWHERE,
    SHARED_FILE,
    MarkedSubject,
    Subjects,
    place_of,
)
from lro_conformance.report.causes import causes, next_step
from tests.conformance.report.test_causes import at, made
from tests.servers.variants import profile_text
from tests.support.made import Made
from tests.support.made_evidence import answered


def named(path: str, id: int, process: int = 1) -> Call:
    """A call of a server process whose descriptor names a file."""
    call = answered({}, FileSeen(path))
    reply: Any = Made(**{**vars(call.reply), "id": id})
    start: Any = Made(**{**vars(call.start), "number": process})
    return replace(call, reply=reply, start=start)


SHARED, OWN = (named("/a", 3), named("/a", 4)), named("/b", 5)


def test_a_path_is_shared_by_several_calls_not_by_one_seen_twice() -> None:
    assert shared_paths((*SHARED, OWN)) == {"/a"}
    assert shared_paths((OWN, OWN, replace(OWN, started=9.0))) == frozenset()


def test_what_is_wrong_with_a_file_may_come_of_those_who_named_it_before() -> None:
    """The first call found the file as it left it itself, whatever it is seen as, and in whatever order."""
    first, second = SHARED
    assert named_before((second, OWN, first, replace(first, started=9.0))) == {second.identity}
    assert named_before((second, named("/a", 1, process=2))) == {(2, 1)}
    assert named_before((named("", 1), named("", 2))) == frozenset()


def subjects(*calls: Call) -> Subjects:
    found, shared = Subjects(), shared_paths((*SHARED, OWN))
    for call in calls:
        found.expect(holds=False, expected="", observed=call.path, subject=in_shared_file(call, shared, call.path))
    return found


def test_what_a_file_of_its_own_shows_goes_before_what_another_call_may_have_caused() -> None:
    assert [(m.observed, m.place) for m in subjects(*SHARED).misses] == [("/a", SHARED_FILE), ("/a", "")]
    assert [(m.observed, m.place) for m in subjects(*SHARED, OWN, OWN).misses][:1] == [("/b", "")]
    assert len(subjects(*SHARED, OWN, OWN).misses) == 4


def test_failures_of_shared_files_are_one_cause_with_the_name_first() -> None:
    report = made(*(at(SHARED_FILE, f"LRO-{id}", 1) for id in ("FILE-02", "FILE-09", "NAME-04")))
    (cause,) = causes(report)
    assert cause.ids == ("LRO-NAME-04", "LRO-FILE-02", "LRO-FILE-09")
    assert next_step(report) == "fix this: LRO-NAME-04 (and 2 with the same cause), and level 3 is proved"


def test_a_call_in_flight_is_one_that_others_may_have_disturbed_unless_its_file_is_shared() -> None:
    first, second = SHARED
    assert [
        place_of(mark_if_indirect(calls, named_before((*SHARED, OWN)), "at", in_flight=in_flight))
        for calls, in_flight in (((OWN,), False), ((first,), True), (SHARED, True), ((OWN, second), False))
    ] == ["", CONCURRENT_CALL, SHARED_FILE, SHARED_FILE]


@pytest.mark.parametrize("place", [SHARED_FILE, CONCURRENT_CALL, ESTIMATE_IN_HEADERS])
def test_what_shows_without_any_such_reason_goes_first(place: str) -> None:
    found = Subjects()
    for at_place in (place, CONCURRENT_CALL, "descriptor /summary/count: contradiction", "", SHARED_FILE):
        found.expect(holds=False, expected="", observed=at_place, subject=MarkedSubject("a call", None, at_place))
    assert found.misses[0].observed == "descriptor /summary/count: contradiction"


@pytest.mark.parametrize(
    ("place", "root"),
    [
        (SHARED_FILE, "NAME-04"),
        (CONCURRENT_CALL, "NAME-04"),
        (ESTIMATE_IN_HEADERS, "FILE-13"),
        (OPERATION_EVERYWHERE, "FILE-04"),
        (DETAIL_EVERYWHERE, "FILE-08"),
    ],
)
def test_the_root_belongs_to_its_place_whatever_else_it_shows(place: str, root: str) -> None:
    """Other requirements belong to the place of the first of their checks that fail worst."""
    twice = [at("", f"LRO-{id}", 1) for id in (root, "FILE-09")]
    twice = [replace(r, checks=(*r.checks, *(replace(c, place=place) for c in r.checks))) for r in twice]
    found = causes(made(at(place, "LRO-DESC-03", 1), *twice))
    assert [c.ids for c in found] == [(f"LRO-{root}", "LRO-DESC-03"), ("LRO-FILE-09",)]


@pytest.mark.parametrize(
    ("fault", "root", "examples"),
    [
        pytest.param("calls_in_flight_share_their_content", "LRO-NAME-04", DEFAULT_SEQUENCES, marks=pytest.mark.long),
        pytest.param("header_estimate_grows_with_every_call", "LRO-FILE-13", DEFAULT_SEQUENCES, marks=pytest.mark.long),
        ("header_estimate_adds_the_header", "LRO-FILE-13", 0),
        pytest.param("takes_the_time_when_it_starts", "LRO-FILE-07", 0, marks=pytest.mark.long),
    ],
)
def test_a_fault_that_fails_several_requirements_is_one_cause(
    tmp_path: Path, fault: str, root: str, examples: int
) -> None:
    """The first two fail others than their own only by sequences that are explored, which takes long."""
    (tmp_path / "lro.yaml").write_text(profile_text(fault), encoding="utf-8")
    (cause,) = causes(certify(profiles.load(tmp_path / "lro.yaml"), seed=1, examples=examples))
    assert cause.first.id == root
    assert cause.others


@pytest.mark.parametrize(
    ("states", "ids"),
    [("everywhere", {("FILE-04", "NAME-02", "DESC-05")}), ("in the header", {("FILE-04",)})],
)
def test_a_wrong_operation_that_is_stated_everywhere_is_one_cause(
    tmp_path: Path, states: str, ids: set[tuple[str, ...]]
) -> None:
    """If the profile has the tool of another operation, for example."""
    if states == "everywhere":
        text = profile_text("has_one_tool_of_another_name").partition("operations:")[0]
        text += 'operations: {search: {tool: find_bookmarks, arguments: {query: "*"}, query: query, detail: detail}}\n'
    else:
        text = profile_text("header_operation_is_the_tool")
    (tmp_path / "lro.yaml").write_text(text, encoding="utf-8")
    only = {"LRO-FILE-04", "LRO-NAME-02", "LRO-DESC-05"}
    found = causes(certify(profiles.load(tmp_path / "lro.yaml"), seed=1, only=only, examples=0))
    assert {tuple(id.removeprefix("LRO-") for id in c.ids) for c in found} == ids


def test_without_a_wrong_operation_or_detail_level_there_is_no_place_of_one() -> None:
    """Otherwise other defects of the same requirements would be grouped."""
    nothing = Documents((), {})
    assert (nothing.place_of_operation, nothing.place_of_detail) == ("", "")
