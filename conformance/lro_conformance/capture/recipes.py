"""The recipes of captured descriptors. Their commands are parsed, and never handed to a shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.judging.subjects import evidence_of
from lro_spec.recipes.pipeline import Pipeline, parse_command
from lro_spec.recipes.shell import RecipeSyntaxError


@dataclass(frozen=True)
class Command(CallSubject):
    """One recipe of a descriptor."""

    call: Call
    index: int
    """Index of the recipe in jq_recipes, counted from 0."""
    description: Any
    text: Any
    """The command as written in the descriptor."""

    @cached_property
    def _parsed(self) -> Pipeline | RecipeSyntaxError:
        if not isinstance(self.text, str):
            return RecipeSyntaxError("the recipe has no command")
        try:
            return parse_command(self.text)
        except RecipeSyntaxError as wrong:
            return wrong

    @property
    def pipeline(self) -> Pipeline | None:
        """The command's pipeline; None if it could not be understood."""
        return None if isinstance(self._parsed, RecipeSyntaxError) else self._parsed

    @property
    def problem(self) -> str | None:
        """Reason why the command could not be understood; None if it was understood."""
        return str(self._parsed) if isinstance(self._parsed, RecipeSyntaxError) else None


@evidence_of.register
def _(command: Command) -> str:
    return f"recipe #{command.index + 1}: {command.text}\n{evidence_of(command.call)}"


def commands_of(call: Call) -> list[Command]:
    """The recipes of a call's descriptor; empty if it has none."""
    entries = call.descriptor.get("jq_recipes")
    found: list[Command] = []
    for index, entry in enumerate(cast("list[Any]", entries) if isinstance(entries, list) else []):
        recipe = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"command": entry}
        found.append(Command(call, index, recipe.get("description"), recipe.get("command")))
    return found


def paths_named(calls: Iterable[Call]) -> frozenset[str]:
    """Paths of the files that are named by descriptors and their recipes."""
    calls = list(calls)
    named = {c.pipeline.path for call in calls for c in commands_of(call) if c.pipeline is not None}
    return frozenset(named | {path for c in calls if isinstance(path := c.descriptor.get("file_path"), str)})


def without_path(command: Command) -> str:
    """The text of a command in which FILE replaces the path of the file, so that commands for different files can be
    compared."""
    return re.sub(r"\S+", lambda word: "FILE" if ".jsonl" in word[0] else word[0], str(command.text))
