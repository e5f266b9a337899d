"""The recipes of descriptors, run on their files; commands are parsed and never handed to a shell."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypedDict, cast

from lro_conformance.calls import Call, OfACall, real_path
from lro_conformance.judge import NotObserved
from lro_conformance.lab import Lab
from lro_conformance.trials import trial
from lro_conformance.trials.survey import Survey
from lro_spec.evaluation import standard
from lro_spec.probing import literals
from lro_spec.recipes import Agreement, JqRun, JqRunner, Pipeline, RecipeSyntaxError, agrees, parse_command, probe

STANDARD = range(1, 11)
"""The numbers of the standard recipes."""

PATIENCE_S = 4.0
"""How long a recipe may take for a file of a few hundred records; an honest one takes a hundredth of a second."""

OUTPUT_BYTES = 1 << 20
"""What a recipe may give beyond eight times its file: more is cut off, since what was given is kept."""


class _Limits(TypedDict):
    timeout_s: float
    max_output: int


@dataclass(frozen=True)
class Command(OfACall):
    """One recipe of a descriptor."""

    call: Call
    index: int
    """Its place in jq_recipes, from 0."""
    description: Any
    text: Any
    """The command as it stands there."""

    @cached_property
    def _parsed(self) -> Pipeline | str:
        if not isinstance(self.text, str):
            return "it has no command"
        try:
            return parse_command(self.text)
        except RecipeSyntaxError as wrong:
            return str(wrong)

    @property
    def pipeline(self) -> Pipeline | None:
        """What it does; None where it could not be understood."""
        return None if isinstance(self._parsed, str) else self._parsed

    @property
    def problem(self) -> str | None:
        """Why it could not be understood."""
        return self._parsed if isinstance(self._parsed, str) else None

    def evidence(self) -> str:
        """What to paste."""
        return f"recipe #{self.index + 1}: {self.text}\n{self.call.evidence()}"


@dataclass(frozen=True)
class Try:
    """One run of a command, compared with what a standard recipe means."""

    number: int
    command: Command
    literal: str | None
    """What it was made to look for, in place of its own placeholder."""
    output: JqRun
    """What jq gave."""

    @cached_property
    def agreement(self) -> Agreement:
        """How that compares with what the recipe means, evaluated without jq."""
        call = self.command.call
        return agrees(self.number, self.output, call.filed, self.literal, header=call.header)

    def evidence(self) -> str:
        """What to paste."""
        return self.command.evidence()

    def reproducer(self) -> str:
        """A command for bash that makes the call once more."""
        return self.command.reproducer()

    def location(self) -> str:
        """Where that call stands in recorded evidence."""
        return self.command.location()


@dataclass(frozen=True)
class Recipes:
    """All recipes that were looked at, and what the standard ones gave."""

    commands: tuple[Command, ...]
    """Those of every offloaded call."""
    tries: tuple[Try, ...]
    unmet: tuple[tuple[int, Call], ...]
    """Standard recipes that a descriptor has nothing for."""
    engine: str
    """The jq of the machine, where there is one, or else libjq."""
    real: Mapping[str, str]
    """The paths that descriptors and their recipes name, and each without links, as it was then."""


@trial("the ten recipes, run on real files")
def recipes(lab: Lab, survey: Survey) -> Recipes:
    """Run the recipes on files of every detail level."""
    commands = {id(c): commands_of(c) for c in survey.files}
    if not any(commands.values()):
        return Recipes((), (), tuple((n, survey.files[0]) for n in STANDARD) if survey.files else (), "none", {})
    binary = shutil.which("jq")
    chosen = _to_run(survey, commands)
    tries: list[Try] = []
    unmet: list[tuple[int, Call]] = []
    # A jq process costs three times a run of libjq: the binary runs once for each recipe, on the file of most detail.
    most = OUTPUT_BYTES + 8 * max(len(c.file.data) for c in chosen if c.file is not None)
    limits: _Limits = {"timeout_s": PATIENCE_S, "max_output": most}
    with JqRunner(binary, **limits) as installed, JqRunner(**limits) as bundled:
        for call in chosen:
            lab.step("recipes", f"{call.operation} {call.detail or ''}")
            for number in STANDARD:
                found = attempt(bundled, number, call, commands[id(call)])
                if call is chosen[-1] and binary is not None:
                    found += again(installed, found[-1:])
                tries += found
                if not found:
                    unmet.append((number, call))
    flat = tuple(c for found in commands.values() for c in found)
    named = {c.pipeline.path for c in flat if c.pipeline is not None}
    named |= {path for c in survey.files if isinstance(path := c.descriptor.get("file_path"), str)}
    return Recipes(flat, tuple(tries), tuple(unmet), binary or "libjq", {p: real_path(p) for p in sorted(named)})


def commands_of(call: Call) -> list[Command]:
    """The recipes of a descriptor, parsed."""
    entries = call.descriptor.get("jq_recipes")
    found: list[Command] = []
    for index, entry in enumerate(cast("list[Any]", entries) if isinstance(entries, list) else []):
        recipe = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        found.append(Command(call, index, recipe.get("description"), recipe.get("command")))
    return found


def _to_run(survey: Survey, commands: dict[int, list[Command]]) -> list[Call]:
    """One call for each detail level, and one for each operation whose recipes are others."""
    chosen: list[Call] = []
    for call in (c for c in survey.whole.values() if id(c) in commands and c.filed):
        key = (call.summary.get("detail"), _shape(commands[id(call)]))
        if all((c.summary.get("detail"), _shape(commands[id(c)])) != key for c in chosen):
            chosen.append(call)
    if not chosen:
        raise NotObserved("no file with records could be read")
    return chosen


def _shape(commands: Sequence[Command]) -> tuple[str, ...]:
    """The commands without their paths."""
    return tuple(without_path(c) for c in commands)


def without_path(command: Command) -> str:
    """The text of a command, whatever file it is for."""
    return re.sub(r"\S*\.jsonl\S*", "FILE", str(command.text))


def attempt(
    runner: JqRunner, number: int, call: Call, commands: Sequence[Command], may: Callable[[Command], bool] | None = None
) -> list[Try]:
    """The runs of the command that does what standard recipe *number* does: the one at its place, or else any other.

    Where none does, the runs of the one at its place; nothing when there is none either. *may* has the last word on
    commands at other places: few records are soon right by chance.
    """
    own = [c for c in commands if c.index == number - 1]
    first: list[Try] = []
    for command in (*own, *(c for c in commands if c not in own)):
        if command.pipeline is None:
            continue
        found = list(_runs(runner, number, call, command, command.pipeline))
        if all(right(t) for t in found) and (may is None or command in own or may(command)):
            return found
        first = first or (found if command in own else [])
    return first


def right(one: Try) -> bool:
    """Whether a run gave what its recipe means, or fails only where the text's own command does."""
    return one.agreement.ok or one.agreement.erratum is not None


def again(runner: JqRunner, tries: Sequence[Try]) -> list[Try]:
    """The same runs by another jq."""
    found: list[Try] = []
    for one in tries:
        pipeline, call = one.command.pipeline, one.command.call
        if pipeline is None or call.file is None:
            continue
        changed = probe(pipeline, one.number, one.literal) if one.literal is not None else pipeline
        found.append(replace(one, output=runner.run(changed or pipeline, call.file.data)))
    return found


def _runs(runner: JqRunner, number: int, call: Call, command: Command, pipeline: Pipeline) -> Iterator[Try]:
    for literal in literals(standard(number).effect, call.filed):
        changed = probe(pipeline, number, literal) if literal is not None else pipeline
        if changed is None:
            changed, literal = pipeline, None
        data = call.file.data if call.file is not None else b""
        yield Try(number, command, literal, runner.run(changed, data))
