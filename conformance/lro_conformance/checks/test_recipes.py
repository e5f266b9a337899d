"""The ten recipes. The suite runs each on the file, and compares the output with a computation of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from shlex import quote

from lro_conformance.analysis.documents import Commands, Document, Documents
from lro_conformance.capture.recipes import Command, commands_of, without_path
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects


@check("LRO-REC-01")
def test_titles_with_scores(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 1 lists titles with scores, tab-separated."""
    recipes.judge("LRO-REC-01", subjects)


@check("LRO-REC-02")
def test_namespace_prefix(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 2 selects the memories whose namespace begins with a prefix."""
    recipes.judge("LRO-REC-02", subjects)


@check("LRO-REC-03")
def test_title_keyword(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 3 selects the memories whose title matches a keyword, ignoring case."""
    recipes.judge("LRO-REC-03", subjects)


@check("LRO-REC-04")
def test_sorted_by_confidence(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 4 sorts all memories by confidence, highest first."""
    recipes.judge("LRO-REC-04", subjects)


@check("LRO-REC-05")
def test_ids_and_titles(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 5 returns id, title and namespace of each memory."""
    recipes.judge("LRO-REC-05", subjects)


@check("LRO-REC-06")
def test_memory_type(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 6 selects the memories of one type."""
    recipes.judge("LRO-REC-06", subjects)


@check("LRO-REC-07")
def test_with_entities(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 7 selects the memories that have entities."""
    recipes.judge("LRO-REC-07", subjects)


@check("LRO-REC-08")
def test_counts_by_namespace(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 8 counts the memories of each namespace, the most frequent first."""
    recipes.judge("LRO-REC-08", subjects)


@check("LRO-REC-09")
def test_top_ten(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 9 returns the ten memories with the highest confidence."""
    recipes.judge("LRO-REC-09", subjects)


@check("LRO-REC-10")
def test_content_search(recipes: Documents, subjects: Subjects) -> None:
    """Recipe 10 selects the memories whose content matches a pattern, ignoring case."""
    recipes.judge("LRO-REC-10", subjects)


@check("LRO-REC-11")
def test_path_is_filled_in(documents: Documents, subjects: Subjects) -> None:
    """Every recipe names the file of its descriptor in place of `{file}`.

    If the path has to be quoted only because the name of its folder has special characters, and only the quoting is
    wrong, LRO-HARD-03 judges it.
    """
    by_quoting = _awkward_path(documents)

    def only_misquoted(document: Document) -> str | None:
        reason, path = by_quoting(document), _unquoted(str(document.call.path))
        is_named = reason is not None and all(path in _unquoted(str(c.text)) for c in commands_of(document.call))
        return reason if is_named else None

    documents.judge("LRO-REC-11", subjects, skip=only_misquoted)


@check("LRO-REC-12")
def test_header_is_skipped(recipes: Documents, subjects: Subjects) -> None:
    """Every recipe skips the header line, but no record."""
    recipes.judge("LRO-REC-12", subjects)


@check("LRO-REC-13")
def test_recipes_are_well_formed(recipes: Documents, subjects: Subjects) -> None:
    """Every recipe has a description and a command, which is a plain pipeline that jq can run.

    The suite understands pipelines of tail, head, cat and jq. It also understands awk, grep and sed in such a pipeline
    if they select lines. In recipes after the tenth, it also understands sort, uniq, wc, cut, tr, grep and nl. The file
    may be given as `< FILE`, by `<(…)` or by `{ read -r _; …; } < FILE`, and variables may be assigned before the
    pipeline. The suite cannot run recipes with other uses of awk and grep, or with options of jq such as `-R`; they do
    not fail this requirement, but it is then not observed. If there is no recipe at all for one of the purposes in the
    specification, the requirement of that purpose fails instead. If a path has to be quoted only because the name of
    its folder has special characters, quoting is judged by LRO-HARD-03.
    """
    recipes.judge("LRO-REC-13", subjects, skip=_awkward_path(recipes))


def _awkward_path(documents: Documents) -> Callable[[Document], str | None]:
    """Return a function that returns the reason why a document is not examined, or None if the document is examined.

    A document is not examined if its path has to be quoted in a shell, although the path of some other document does
    not have to be quoted. LRO-HARD-03 then judges how its path is quoted.
    """
    some_path_is_plain = any(
        quote(path) == path for path in (str(document.call.path) for document in documents.documents)
    )

    def reason(document: Document) -> str | None:
        path = str(document.call.path)
        return (
            "LRO-HARD-03 judges how a command quotes an awkward path"
            if some_path_is_plain and quote(path) != path
            else None
        )

    return reason


def _unquoted(text: str) -> str:
    """A text without the characters by which a shell quotes."""
    return re.sub(r"['\"\\]", "", text)


@check("LRO-REC-21")
def test_recipes_are_deterministic(recipes: Documents, subjects: Subjects) -> None:
    """No recipe reads the clock, or depends on the machine's time zone."""
    recipes.judge("LRO-REC-21", subjects)


@check("LRO-REC-13")
def test_descriptions_stay_with_their_commands(commands: Commands, subjects: Subjects) -> None:
    """A command's description is not the description of a different command in another descriptor.

    Two descriptors must never give the same description to different commands.
    """
    descriptions: dict[str, object] = {}
    for commands_by_text in _by_text(commands):
        descriptions = descriptions or {text: command.description for text, command in commands_by_text.items()}
        for text, command in commands_by_text.items():
            other_commands = [t for t, described in descriptions.items() if described == command.description]
            subjects.expect(
                text not in descriptions or not other_commands or text in other_commands,
                expected=f"{show(descriptions.get(text))}, as in another descriptor, for {show(text, 120)}",
                observed=f"{show(command.description)}, which the other descriptor has for "
                f"{show(other_commands[0] if other_commands else '', 120)}",
                subject=command,
            )
    if not commands:
        subjects.not_observed("no descriptor has a recipe")


def _by_text(commands: Commands) -> list[dict[str, Command]]:
    """For each descriptor, the commands that the suite can parse. The key of a command is its text without the path of
    the file."""
    commands_by_descriptor: dict[int, dict[str, Command]] = {}
    for command in (c for c in commands if c.pipeline is not None):
        commands_by_descriptor.setdefault(id(command.call), {})[without_path(command)] = command
    return list(commands_by_descriptor.values())
