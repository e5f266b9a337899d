"""Hardening: safety that operators need, although the specification does not require it. The level of a server never
depends on it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise

from lro_conformance.capture.call import Call, in_shared_file, shared_paths
from lro_conformance.capture.recipes import commands_of
from lro_conformance.capture.records import show, show_path
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.folders import Folders
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition
from lro_spec.filenames import FileName, parse_file_name

MIN_RANDOM_DIFFERENCE = 2**40
"""The random part of a ULID is a number of 80 bits. If the random parts of two ULIDs differ by less than this, they are
not random: so small a difference occurs by chance about once in 500 billion pairs."""


@check("LRO-HARD-01")
def test_files_are_private(survey: Survey, subjects: Subjects) -> None:
    """Only its owner may read or write a file: its mode is 0600 or stricter."""
    for call in survey.files:
        mode = (call.file.mode if call.file is not None else None) or 0
        subjects.expect(not mode & 0o077, expected="mode 0600", observed=f"mode {mode:04o}", subject=call)


@check("LRO-HARD-02")
def test_names_cannot_be_guessed(survey: Survey, folders: Folders, edition: Edition, subjects: Subjects) -> None:
    """The random part of a ULID is random. It is not a counter that starts from zero, and not a constant."""
    names = _names(survey.files, edition)
    processes = {n.random: survey.files[0].start.number for n in names}
    for call in (*folders.unset, *folders.awkward):
        for other in _names([call], edition):
            subjects.expect(
                processes.setdefault(other.random, call.start.number) == call.start.number,
                expected="different random bits in every process, so that names cannot be predicted",
                observed=f"{other.ulid} has the random bits of a file of another process",
                subject=call,
            )
    for one, other in pairwise(names):
        difference = abs(int.from_bytes(one.random) - int.from_bytes(other.random))
        if one.created == other.created:
            continue  # ULIDs of the same millisecond may be consecutive numbers
        subjects.expect(
            difference >= MIN_RANDOM_DIFFERENCE,
            expected="80 random bits, drawn anew in each millisecond",
            observed=f"{other.ulid} can be predicted from {one.ulid}: its random part differs by {difference}",
            subject=survey.files[-1],
        )


def _names(calls: Iterable[Call], edition: Edition) -> list[FileName]:
    paths = dict.fromkeys(c.file.path for c in calls if c.file is not None)
    return [n for p in paths if (n := parse_file_name(os.path.basename(p), edition=edition.name)) is not None]


@check("LRO-HARD-03")
def test_recipes_survive_awkward_directories(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """Every recipe names its file correctly, even if the folder's name has spaces, quotes and special characters of a
    shell."""
    if not any(c.outcome == "offloaded" for c in folders.awkward):
        raise NotObserved("nothing was offloaded to a folder with an awkward name")
    ordinary_commands = [c for call in survey.files[:1] for c in commands_of(call)]
    valid_indexes = {
        c.index for c in ordinary_commands if c.pipeline and c.pipeline.path == c.call.descriptor.get("file_path")
    }
    for call in folders.awkward:
        path = call.descriptor.get("file_path")
        for command in commands_of(call):
            if command.index not in valid_indexes:
                subjects.not_observed(
                    "a recipe is not understood or does not name its file, even in an ordinary folder"
                )
                continue
            named_path = command.pipeline.path if command.pipeline is not None else None
            path_that_is_read = f"nothing ({command.problem})" if named_path is None else show_path(named_path)
            subjects.expect(
                named_path == path,
                expected=f"a command that reads only {show_path(path)}",
                observed=f"{_quoting(command.text, str(path))}; it reads {path_that_is_read}: "
                f"{show(command.text, 300)}",
                subject=command,
            )


def _quoting(command: str, path: str) -> str:
    """Description of the mistake that a command makes in quoting a path."""
    if f"'{path}" in command:
        return "the path is in single quotes, but the single quote within it is not escaped ('\\'')"
    if f'"{path}' in command:
        return "the path is in double quotes, within which the shell still expands $, ` and \\"
    return "the path is not quoted" if path in command else "the path is not quoted as a POSIX shell requires"


@check("LRO-HARD-06")
def test_no_temporary_files_remain(survey: Survey, fallback: Fallback, subjects: Subjects) -> None:
    """The output folder has only files that are named by descriptors, and a failed write leaves nothing in it."""
    if survey.files and survey.files[0].output_dir is not None:
        unnamed_files = survey.unnamed
        subjects.expect(
            not unnamed_files,
            expected="in the output folder, only files that a descriptor names",
            observed=f"files that no descriptor names: {_first_names(unnamed_files)}",
            subject=survey.files[0],
        )
    for failing in fallback.failing:
        subjects.expect(
            not failing.new_entries,
            expected="no new file in the output folder after a failed write",
            observed=f"new: {_first_names(failing.new_entries)}",
            subject=failing,
        )


def _first_names(files: Sequence[str]) -> str:
    """The names of the first five files, and the number of further ones."""
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    return f"{', '.join(map(show, files[:5]))}{more}"


@check("LRO-HARD-07")
def test_files_do_not_change(survey: Survey, subjects: Subjects) -> None:
    """A file is complete when its descriptor is returned. Its bytes do not change later."""
    shared = shared_paths((*survey.offloaded, *(c for c, _ in survey.together)))
    growing = {c.file.path: c for c in survey.unsettled if c.file is not None}
    for settled in survey.files:
        path = settled.path
        call, later = growing.get(path, settled), survey.later.get(path)
        if later is None or call.file is None:
            continue
        subjects.expect(
            later.problem is None and later.data == call.file.data,
            expected=f"the {len(call.file.data)} bytes that it had when its descriptor was returned",
            observed=later.problem or f"{len(later.data)} different bytes",
            subject=in_shared_file(call, shared, call),
        )
