"""Hardening: what the text leaves silent and a careful operator needs. It never decides a level."""

from __future__ import annotations

import os

from lro_conformance.judge import NotObserved, Subjects, check
from lro_conformance.records import show
from lro_conformance.trials.defaults import Folders
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.survey import Survey
from lro_spec.naming import parse_file_name
from lro_spec.recipes import RecipeSyntaxError, parse_command


@check("LRO-HARD-01")
def test_files_are_private(survey: Survey, see: Subjects) -> None:
    """Only the user may read or write a file: mode 0600 or less."""
    for call in survey.files:
        mode = (call.file.mode if call.file is not None else None) or 0
        see.expect(mode & 0o077 == 0, expected="mode 0600", observed=f"mode {mode:04o}", at=call)


@check("LRO-HARD-02")
def test_names_cannot_be_guessed(survey: Survey, see: Subjects) -> None:
    """The random part of the ULIDs is random: no counter from nothing, no constant."""
    randoms: dict[bytes, str] = {}
    for call in survey.files:
        parsed = parse_file_name(os.path.basename(call.file.path)) if call.file is not None else None
        if parsed is None:
            continue
        small = not any(parsed.random[:4])
        see.expect(
            not small and parsed.random not in randoms,
            expected="80 random bits",
            observed=f"{parsed.ulid}: "
            + ("the first half of them is zero" if small else f"the same as in {randoms.get(parsed.random)}"),
            at=call,
        )
        randoms[parsed.random] = parsed.ulid


@check("LRO-HARD-03")
def test_recipes_survive_awkward_folders(folders: Folders, see: Subjects) -> None:
    """In a folder whose name holds spaces, quotes and shell characters, every recipe still names the one file."""
    if not any(c.outcome == "offloaded" for c in folders.awkward):
        raise NotObserved("nothing was offloaded to a folder with an awkward name")
    for call in folders.awkward:
        path = call.descriptor.get("file_path")
        recipes = call.descriptor.get("jq_recipes")
        for recipe in recipes if isinstance(recipes, list) else []:
            command = recipe.get("command") if isinstance(recipe, dict) else None
            if not isinstance(command, str):
                continue
            observed = _path_of(command)
            see.expect(
                observed == path,
                expected=f"a command whose one file is {show(path)}",
                observed=f"{show(observed)} in {show(command, 300)}",
                at=call,
            )


def _path_of(command: str) -> str:
    try:
        return parse_command(command).path
    except RecipeSyntaxError as problem:
        return f"nothing ({problem})"


@check("LRO-HARD-06")
def test_nothing_is_left_behind(survey: Survey, fallback: Fallback, see: Subjects) -> None:
    """Neither success nor failure leaves temporary or partial files in the output folder."""
    if survey.files and survey.files[0].output_dir is not None:
        left = survey.unnamed
        see.expect(not left, expected="only files that a descriptor named", observed=show(left[:5]), at=survey.files[0])
    for failing in fallback.failing:
        see.expect(
            not failing.litter, expected="nothing after a failed write", observed=show(failing.litter[:5]), at=failing
        )


@check("LRO-HARD-07")
def test_files_do_not_change(survey: Survey, see: Subjects) -> None:
    """A file is complete when it is named: its bytes are the same later."""
    for call in survey.files:
        later = survey.later.get(call.file.path) if call.file is not None else None
        if later is None or call.file is None:
            continue
        see.expect(
            later.problem is None and later.data == call.file.data,
            expected=f"the {len(call.file.data)} bytes that were there when it was named",
            observed=later.problem or f"{len(later.data)} bytes, others",
            at=call,
        )
