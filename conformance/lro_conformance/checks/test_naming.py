"""File names: the directory, the pattern, and a separate file for each call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.timestamps import CLOCK_S, call_after_uptime, in_local_time
from lro_conformance.capture.call import Call, CallInContext
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.directories import Folders
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition
from lro_spec.filenames import parse_file_name


@check("LRO-NAME-01")
def test_file_is_in_the_output_directory(survey: Survey, subjects: Subjects) -> None:
    """The file is directly in the configured output folder."""
    for call in survey.files:
        folder, root = call.output_dir, call.real_output_dir
        if folder is None or root is None or call.file is None or call.file.real is None:
            subjects.not_observed("the output folder cannot be set (profile: settings.output_dir)")
            continue
        real = Path(call.file.real)
        if not real.is_relative_to(root):
            subjects.not_observed("the file is not below the folder that was set")
            continue
        subjects.expect(real.parent == root, expected=f"a file in {folder}", observed=call.file.path, at=call)


@check("LRO-NAME-02")
def test_name_follows_the_pattern(documents: Documents, subjects: Subjects) -> None:
    """The file is named `{prefix}-{operation}-{ulid}.jsonl` with the operation that was performed."""
    documents.judge("LRO-NAME-02", subjects)


@check("LRO-NAME-03")
def test_name_has_a_ulid(documents: Documents, subjects: Subjects) -> None:
    """The name ends in a well-formed ULID."""
    documents.judge("LRO-NAME-03", subjects)


@check("LRO-NAME-03")
def test_ulid_encodes_creation_time(survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """The ULID's time is the time at which the file was written."""
    _timed(survey.files, edition, subjects)


@check("LRO-NAME-03")
def test_ulid_ignores_time_zone(folders: Folders, edition: Edition, subjects: Subjects) -> None:
    """The ULID's time is right where local time is seven hours ahead of UTC: a ULID counts from 1970 in UTC."""
    _timed((c for c in folders.stranger if c.file is not None and c.file.problem is None), edition, subjects)


@check("LRO-NAME-03")
def test_ulid_advances(cleanup: Cleanup, edition: Edition, subjects: Subjects) -> None:
    """The ULID's time is still right when the server has run for some seconds."""
    _timed(call_after_uptime(cleanup), edition, subjects)


@check("LRO-NAME-03")
def test_names_sort_by_age(survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Of two calls one after the other, the later one's file has the greater ULID, also within a second."""
    earlier: list[tuple[float, str]] = []
    if len({c.path for c in survey.files}) < len(survey.files):
        subjects.not_observed("names are used again (LRO-NAME-04)")
        return
    for call in sorted(survey.files, key=lambda c: c.started):
        ulid = _ulid(_name(call), edition)
        if ulid is None or parse_file_name(f"atlatl-recall-{ulid}.jsonl") is None:
            subjects.not_observed("the name has no ULID")
            continue
        before = max((known for ended, known in earlier if ended <= call.started - APART_S), default=None)
        if before is not None:
            subjects.expect(
                before < ulid.upper(),
                expected=f"a ULID greater than {before}, that of a call more than {APART_S * 1000:.0f} ms earlier",
                observed=ulid,
                at=CallInContext(call),
            )
        earlier.append((call.ended, ulid.upper()))


APART_S = 0.02
"""Seconds between two calls of which a server may take the time from a clock that ticks sixty times a second."""


def _timed(calls: Iterable[Call], edition: Edition, subjects: Subjects) -> None:
    for call in calls:
        ulid = _ulid(_name(call), edition)
        parsed = parse_file_name(f"atlatl-recall-{ulid}.jsonl")
        if parsed is None:
            subjects.not_observed("the name has no ULID")
            continue
        moment = parsed.created.timestamp()
        subjects.expect(
            call.started - CLOCK_S <= moment <= call.ended + CLOCK_S,
            expected=f"a ULID whose time lies within the call (± {CLOCK_S:.0f} s)",
            observed=f"{ulid} says {parsed.created.isoformat()}, "
            + (in_local_time(moment, call) or f"{moment - call.started:+.0f} s from the call"),
            at=call,
        )


@check("LRO-NAME-04")
def test_every_call_has_its_own_file(survey: Survey, subjects: Subjects) -> None:
    """Distinct calls, concurrent ones included, get distinct files, each with its own result."""
    seen: dict[str, Call] = {}
    concurrent = [c for c, _ in survey.together if c.outcome == "offloaded"]
    for call in (c for c in (*survey.offloaded, *concurrent) if c.file is not None and c.file.problem is None):
        path = call.path
        subjects.expect(
            path not in seen,
            expected="a file of its own",
            observed=f"the file of another call: {path}",
            at=CallInContext(call),
        )
        seen.setdefault(path, call)
    for call, alone in survey.together:
        if not call.filed or not alone.filed:
            continue
        if call.header.get("count") != len(call.filed):
            subjects.not_observed("a file of a concurrent call contradicts its own header (LRO-FILE-06)")
            continue
        subjects.expect(
            len(call.filed) == len(alone.filed),
            expected=f"in flight with others, {call.label} has the {len(alone.filed)} records that it has alone",
            observed=f"{len(call.filed)} records in a file of its own",
            at=CallInContext(call),
        )


def _ulid(name: str, edition: Edition) -> str | None:
    """The part of a name where its ULID should be, or that looks like one; None if there is none."""
    found = re.fullmatch(rf"{edition.file_prefix}-[a-z_]+-(.+)\.jsonl", name) or re.search(
        r"(?:^|[^0-9A-Za-z])([0-9A-Za-z]{26})\b", name
    )
    return found[1] if found else None


def _name(call: Call) -> str:
    return os.path.basename(call.file.path) if call.file is not None else ""
