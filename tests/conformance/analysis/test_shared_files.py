"""Files that several calls name: what they alone show is one cause, with LRO-NAME-04 at its head."""

from __future__ import annotations

from dataclasses import replace

from lro_conformance.capture.call import Call, in_shared_file, shared_paths, sometimes_shared_paths
from lro_conformance.capture.file import FileSeen
from lro_conformance.judging.subjects import SHARED_FILE, Subjects
from lro_conformance.report.causes import causes, next_step
from tests.conformance.report.test_causes import at, made
from tests.support.made_evidence import answered


def named(path: str, operation: str = "recall") -> Call:
    """A call whose descriptor names a file."""
    return replace(answered({}, FileSeen(path)), operation=operation)


SHARED, OWN = (named("/a"), named("/a")), named("/b")


def test_a_path_is_shared_by_several_calls_not_by_one_seen_twice() -> None:
    assert shared_paths((*SHARED, OWN)) == {"/a"}
    assert shared_paths((OWN, OWN, replace(OWN, started=9.0))) == frozenset()


def test_an_operation_without_a_file_of_its_own_shows_nothing_of_sharing() -> None:
    assert sometimes_shared_paths((*SHARED, OWN)) == {"/a"}
    assert sometimes_shared_paths((*SHARED, named("/b", "search"))) == frozenset()


def subjects(*calls: Call) -> Subjects:
    found, shared = Subjects(), sometimes_shared_paths((*SHARED, OWN))
    for call in calls:
        found.expect(holds=False, expected="", observed=call.path, at=in_shared_file(call, shared, call.path))
    return found


def test_what_a_file_of_its_own_shows_goes_before_what_another_call_may_have_caused() -> None:
    assert [(m.observed, m.place) for m in subjects(*SHARED).misses] == [("/a", SHARED_FILE), ("/a", "")]
    assert [(m.observed, m.place) for m in subjects(*SHARED, OWN, OWN).misses][:1] == [("/b", "")]
    assert len(subjects(*SHARED, OWN, OWN).misses) == 4


def test_failures_of_shared_files_are_one_cause_with_the_name_first() -> None:
    report = made(*(at(SHARED_FILE, f"LRO-{id}", 1) for id in ("FILE-02", "FILE-09", "NAME-04")))
    (cause,) = causes(report)
    assert cause.ids == ("LRO-NAME-04", "LRO-FILE-02", "LRO-FILE-09")
    assert next_step(report) == "fix this: LRO-NAME-04 (and 2 by the same cause), and level 1 is proved"
