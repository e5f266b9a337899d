"""File names: the directory, the pattern, and a separate file for each call."""

from __future__ import annotations

from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.exchanges import Exchanges
from lro_conformance.analysis.timestamps import ulid_of
from lro_conformance.capture.call import Call, CallInContext, in_shared_file, shared_paths
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import CONCURRENT_CALL, SHARED_FILE, MarkedSubject, Subjects
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.survey import Survey
from lro_spec.display import counted
from lro_spec.editions import Edition
from lro_spec.filenames import parse_ulid


@check("LRO-NAME-01")
def test_file_is_in_the_output_directory(exchanges: Exchanges, subjects: Subjects) -> None:
    """The file is directly in the configured output folder."""
    exchanges.judge("LRO-NAME-01", subjects)


@check("LRO-NAME-02")
def test_name_follows_the_pattern(documents: Documents, subjects: Subjects) -> None:
    """The file is named `{prefix}-{operation}-{ulid}.jsonl` with the operation that was performed."""
    documents.judge("LRO-NAME-02", subjects, place=documents.place_of_operation)


@check("LRO-NAME-03")
def test_name_has_a_ulid(documents: Documents, subjects: Subjects) -> None:
    """The name ends in a well-formed ULID."""
    documents.judge("LRO-NAME-03", subjects)


@check("LRO-NAME-03", calls_of=("folders", "cleanup"))
def test_ulid_encodes_creation_time(exchanges: Exchanges, subjects: Subjects) -> None:
    """The ULID's time is the time at which the file was written. It is correct in any time zone, and however long the
    server has run: a ULID counts milliseconds from 1970 in UTC."""
    exchanges.judge("LRO-NAME-03", subjects)


@check("LRO-NAME-03")
def test_names_sort_by_age(survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """If a call begins after another call has ended, its file has the greater ULID, even within the same second.

    Two calls are compared only if at least 20 ms lie between the end of the first and the beginning of the second.
    """
    earlier: list[tuple[float, str]] = []
    if len({c.path for c in survey.files}) < len(survey.files):
        subjects.not_observed("several calls name the same file (LRO-NAME-04)")
        return
    for call in sorted(survey.files, key=lambda c: c.started):
        ulid = ulid_of(call, edition)
        if ulid is None or parse_ulid(ulid) is None:
            subjects.not_observed("the name has no ULID")
            continue
        greatest_earlier_ulid = max(
            (known for ended, known in earlier if ended <= call.started - APART_S), default=None
        )
        if greatest_earlier_ulid is not None:
            subjects.expect(
                greatest_earlier_ulid < ulid.upper(),
                expected=f"a ULID greater than {greatest_earlier_ulid}, the ULID of a call that ended at least "
                f"{APART_S * 1000:.0f} ms earlier",
                observed=ulid,
                subject=CallInContext(call),
            )
        earlier.append((call.ended, ulid.upper()))


APART_S = 0.02
"""Least number of seconds from the end of a call to the beginning of a later one, if their ULIDs are to be compared: a
server's clock may tick only sixty times a second."""


@check("LRO-NAME-04")
def test_every_call_has_its_own_file(survey: Survey, subjects: Subjects) -> None:
    """Each call gets a file of its own, which has the result of this call. Concurrent calls do, too."""
    seen: dict[str, Call] = {}
    concurrent = [c for c, _ in survey.together if c.outcome == "offloaded"]
    shared = shared_paths((*survey.offloaded, *concurrent))
    for call in (c for c in (*survey.offloaded, *concurrent) if c.file is not None and c.file.problem is None):
        path = call.path
        subjects.expect(
            path not in seen,
            expected="a file of its own",
            observed=f"the file of another call: {path}",
            subject=in_shared_file(call, seen, CallInContext(call)),
        )
        seen.setdefault(path, call)
    for call, alone in survey.together:
        always_same_records = call.operation not in survey.volatile_operations
        if always_same_records and alone.file_records and call.outcome == "inline" and call.file is None:
            subjects.expect(
                holds=False,
                expected=f"in flight with other calls, {call.label} is offloaded, as it is alone",
                observed=f"inline: {show(call.text, 200)}",
                subject=MarkedSubject(CallInContext(call), None, CONCURRENT_CALL),
            )
        if not alone.file_records or call.file is None or call.file.problem is not None:
            continue
        if not survey.has_records_of(call, alone) and survey.files_change:
            subjects.not_observed("files change after their calls have returned (LRO-HARD-07)")
            continue
        difference = (
            "" if len(call.file_records) != len(alone.file_records) else "different ones or with different fields, "
        )
        place = "a shared file" if call.path in shared else "a file of its own"
        subjects.expect(
            survey.has_records_of(call, alone),
            expected=f"in flight with other calls, {call.label} has the "
            f"{counted(len(alone.file_records), 'record')} that it has alone",
            observed=f"{counted(len(call.file_records), 'record')}, {difference}in {place}",
            subject=MarkedSubject(CallInContext(call), None, SHARED_FILE if shared else CONCURRENT_CALL),
        )


@check("LRO-NAME-04")
def test_no_file_is_reused(exchanges: Exchanges, subjects: Subjects) -> None:
    """A call never names the file of an earlier call."""
    exchanges.judge("LRO-NAME-04", subjects)


@check("LRO-NAME-04")
def test_names_of_a_long_session_differ(explored: Explored, subjects: Subjects) -> None:
    """Each result that a server process offloads has a file of its own, however many results the process offloads."""
    if (series := explored.series) is None:
        raise NotObserved("no further calls of one process were made")
    subjects.expect(
        not series.repeated,
        expected=f"{series.calls} names for {series.calls} results of one process",
        observed=f"{series.repeated[0] if series.repeated else ''} is the file of several results",
        subject=MarkedSubject(series, None, SHARED_FILE),
    )
