"""The recipes of descriptors, run on their files; commands are parsed and never handed to a shell."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, cast

from lro_conformance.capture.call import Call, OfACall
from lro_conformance.capture.file import real_path
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of, location_of, reproducer_of
from lro_conformance.trials import trial
from lro_conformance.trials.recipe_runner import MOST_ENDED, OUTPUT_BYTES, RecipeRunner
from lro_conformance.trials.survey import Survey
from lro_spec.editions import DEFAULT_EDITION, StandardRecipe
from lro_spec.editions import edition as edition_named
from lro_spec.recipes.compare import (
    Agreement,
    agrees,
    compiles,
    fails_by_its_literal,
    of_the_records_alone,
    probe,
    same_output,
)
from lro_spec.recipes.filters import NotInterpretedError
from lro_spec.recipes.oracle import erratum, standard
from lro_spec.recipes.pipeline import Pipeline, parse_command
from lro_spec.recipes.probes import literals
from lro_spec.recipes.runner import EngineError, JqRun
from lro_spec.recipes.shell import RecipeSyntaxError

if TYPE_CHECKING:
    from lro_conformance.lab.lab import Lab


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
    def _parsed(self) -> Pipeline | RecipeSyntaxError:
        if not isinstance(self.text, str):
            return RecipeSyntaxError("it has no command")
        try:
            return parse_command(self.text)
        except RecipeSyntaxError as wrong:
            return wrong

    @property
    def pipeline(self) -> Pipeline | None:
        """What it does; None where it could not be understood."""
        return None if isinstance(self._parsed, RecipeSyntaxError) else self._parsed

    @property
    def problem(self) -> str | None:
        """Why it could not be understood."""
        return str(self._parsed) if isinstance(self._parsed, RecipeSyntaxError) else None

    @property
    def beyond_us(self) -> bool:
        """Whether it may be right, and is only more than is interpreted."""
        return isinstance(self._parsed, NotInterpretedError)

    @property
    def data(self) -> bytes:
        """The file that it reads."""
        return self.call.file.data if self.call.file is not None else b""


@evidence_of.register
def _(command: Command) -> str:
    return f"recipe #{command.index + 1}: {command.text}\n{evidence_of(command.call)}"


@dataclass(frozen=True)
class Try:
    """One run of a command, compared with what a standard recipe means."""

    number: int
    command: Command
    literal: str | None
    """What it was made to look for, in place of its own placeholder."""
    output: JqRun
    """What jq gave."""
    edition: str = DEFAULT_EDITION
    """The edition whose recipe has this number, at the detail level of the file."""
    header_left_out: bool = False
    """Whether a wrong output is the same over the records alone, though the command does not skip just one line."""
    delivered: JqRun | None = None
    """What jq gave of the command as it stands in the descriptor, where that was run, too."""

    @property
    def standard(self) -> StandardRecipe:
        """That recipe."""
        return standard(self.number, self.edition, level_in(self.edition, self.command.call))

    @property
    def ran(self) -> Pipeline | None:
        """The command, made to look for that."""
        pipeline, call = self.command.pipeline, self.command.call
        if pipeline is None or self.literal is None:
            return pipeline
        return probe(pipeline, self.number, self.literal, header=call.header, **self._options)

    @cached_property
    def agreement(self) -> Agreement:
        """How that compares with what the recipe means, evaluated without jq."""
        call = self.command.call
        return agrees(self.number, self.output, call.filed, self.literal, header=call.header, **self._options)

    @property
    def refused(self) -> str | None:
        """What jq has against the command as it stands alone: what its author put there makes it fail."""
        probed = None if self.literal is None else self.output
        return None if self.delivered is None else fails_by_its_literal(self.delivered, probed)

    @property
    def _options(self) -> _Options:
        return {"edition": self.edition, "detail": level_in(self.edition, self.command.call)}


@evidence_of.register
def _(run: Try) -> str:
    return evidence_of(run.command)


@reproducer_of.register
def _(run: Try) -> str:
    return reproducer_of(run.command)


@location_of.register
def _(run: Try) -> str:
    return location_of(run.command)


@dataclass(frozen=True)
class Recipes:
    """All recipes that were looked at, and what the standard ones gave."""

    commands: tuple[Command, ...]
    """Those of every offloaded call, and of those in flight together."""
    tries: tuple[Try, ...]
    unmet: tuple[tuple[int, Call], ...]
    """Standard recipes that a descriptor has nothing for."""
    engine: str
    """The jq of the machine, where there is one, or else libjq."""
    real: Mapping[str, str]
    """The paths that descriptors and their recipes name, and each without links, as it was then."""
    edition: str = DEFAULT_EDITION
    """The edition whose recipes were looked for."""
    unrun: Mapping[str, str] = field(default_factory=dict[str, str])
    """The commands that no jq here could run, without their paths, and why."""

    def lacking(self) -> Iterator[tuple[StandardRecipe, Call]]:
        """The standard recipes of `unmet`, each with the descriptor that lacks it."""
        for number, call in self.unmet:
            yield standard(number, self.edition, level_in(self.edition, call)), call


class _Options(TypedDict):
    edition: str
    detail: str


def level_in(edition: str, call: Call) -> str:
    """The detail level whose library of an edition a file's recipes are: that of its summary, or else full."""
    said = call.summary.get("detail", call.header.get("detail"))
    return said if isinstance(said, str) and said in edition_named(edition).details else "full"


def roles(edition: str, call: Call) -> tuple[StandardRecipe, ...]:
    """The standard recipes that a descriptor has to have."""
    return edition_named(edition).recipes_at(level_in(edition, call))


@trial("the ten recipes, run on real files")
def recipes(lab: Lab, survey: Survey) -> Recipes:
    """Run the recipes on files of every detail level."""
    own = lab.editions.own.name
    return recipes_by(own, survey, lambda said: lab.step("recipes", said), going=lambda: lab.workspace.pause(0))


def recipes_by(
    edition: str,
    survey: Survey,
    step: Callable[[str], object] = lambda _: None,
    *,
    going: Callable[[], object] = lambda: None,
) -> Recipes:
    """Run the recipes of a survey and compare them with those of an edition; no server is needed for it.

    *going* is asked before each and raises where the run has ended.
    """
    commands = {id(c): commands_of(c) for c in survey.files}
    if not any(commands.values()):
        none = tuple((r.number, survey.files[0]) for r in roles(edition, survey.files[0])) if survey.files else ()
        return Recipes((), (), none, "none", {}, edition)
    binary = shutil.which("jq")
    chosen = _to_run(survey, commands)
    tries: list[Try] = []
    unmet: list[tuple[int, Call]] = []
    # A jq process costs three times a run of libjq: the binary runs once for each recipe, on the file of most detail.
    most = OUTPUT_BYTES + 8 * max(len(c.file.data) for c in chosen if c.file is not None)
    with RecipeRunner(binary, max_output=most) as installed, RecipeRunner(max_output=most) as bundled:
        for call in chosen:
            step(f"{call.operation} {call.detail or ''}")
            for role in roles(edition, call):
                going()
                found = attempt(bundled, edition, role, call, commands[id(call)])
                if found and hides(edition, role, call) and not all(t.agreement.ok for t in found):
                    found = []
                found = _delivered(bundled, found)
                if call is chosen[-1] and binary is not None:
                    found += again(installed, found[-1:])
                tries += found
                if not found:
                    unmet.append((role.number, call))
            if sum(bool(t.output.problem) for t in tries) >= MOST_ENDED:
                break
    flown = (c for call in survey.concurrent_files for c in commands_of(call))
    flat = (*(c for found in commands.values() for c in found), *flown)
    named = {c.pipeline.path for c in flat if c.pipeline is not None}
    named |= {
        path
        for c in (*survey.files, *survey.concurrent_files)
        if isinstance(path := c.descriptor.get("file_path"), str)
    }
    real = {p: real_path(p) for p in sorted(named)}
    return Recipes(flat, tuple(tries), tuple(unmet), binary or "libjq", real, edition, bundled.unrun)


def commands_of(call: Call) -> list[Command]:
    """The recipes of a descriptor, parsed."""
    entries = call.descriptor.get("jq_recipes")
    found: list[Command] = []
    for index, entry in enumerate(cast("list[Any]", entries) if isinstance(entries, list) else []):
        recipe = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"command": entry}
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
    return re.sub(r"\S+", lambda word: "FILE" if ".jsonl" in word[0] else word[0], str(command.text))


def attempt(
    runner: RecipeRunner,
    edition: str,
    role: StandardRecipe,
    call: Call,
    commands: Sequence[Command],
    may: Callable[[Command], bool] | None = None,
) -> list[Try]:
    """The runs of the command that does what a standard recipe does: the one at its place, or else any other.

    Where none does, the runs of the one at its place; nothing when there is none either. *may* has the last word on
    commands at other places: few records are soon right by chance.
    """
    own = [c for c in commands if c.index == role.number - 1]
    first: list[Try] = []
    for command in (*own, *(c for c in commands if c not in own)):
        if command.pipeline is None or (command not in own and without_path(command) in runner.ended):
            continue
        try:
            found = _compared(runner, edition, role, command, command.pipeline, own=command in own)
        except EngineError as problem:
            runner.unrun[without_path(command)] = str(problem)
            continue
        if found and all(right(t) for t in found) and (may is None or command in own or may(command)):
            return found
        first = first or (found if command in own else [])
    return first


def _compared(
    runner: RecipeRunner, edition: str, role: StandardRecipe, command: Command, pipeline: Pipeline, *, own: bool
) -> list[Try]:
    """The runs of one command; none of another's than the *own* one as soon as one is wrong. Raises `EngineError`."""
    found: list[Try] = []
    for one in _runs(runner, edition, role, command, pipeline):
        if one.output.problem:
            runner.ended.add(without_path(command))
        if not right(one) and not own:
            return []  # one wrong answer is enough where another would have been the one to give it
        found.append(one if right(one) or one.output.problem else _beside(runner, one))
    return found


def hides(edition: str, role: StandardRecipe, call: Call) -> bool:
    """Whether a file cannot tell that a recipe is missing, though the list has no place for it and some are missing.

    The text's own command fails on such records, so that any other fails no worse.
    """
    listed = len(commands_of(call))
    known = erratum(role.number, call.filed, edition=edition, detail=level_in(edition, call))
    return 0 < listed < role.number and known is not None


def right(one: Try) -> bool:
    """Whether a run gave what its recipe means, or fails only where the text's own command does."""
    return one.agreement.ok or one.agreement.erratum is not None


def again(runner: RecipeRunner, tries: Sequence[Try]) -> list[Try]:
    """The same runs by another jq; a program that it is too old to read says nothing of the recipe."""
    known = [(t, t.ran) for t in tries if t.ran is not None and not t.output.problem]
    runs = [(t, replace(t, output=runner.run(ran, t.command.data), delivered=None)) for t, ran in known]
    return [new for t, new in runs if compiles(new.output) or not compiles(t.output)]


def _runs(
    runner: RecipeRunner, edition: str, role: StandardRecipe, command: Command, pipeline: Pipeline
) -> Iterator[Try]:
    call = command.call
    spelled: _Options = {"edition": edition, "detail": level_in(edition, call)}
    for literal in literals(role.effect, call.filed):
        changed = None if literal is None else probe(pipeline, role.number, literal, header=call.header, **spelled)
        output = runner.run(changed or pipeline, command.data)
        yield Try(role.number, command, None if changed is None else literal, output, edition)
        if output.problem:
            break


def _delivered(runner: RecipeRunner, tries: Sequence[Try]) -> list[Try]:
    """The same runs; where they were made to look for something, the first beside one of the command as it stands."""
    pipeline = tries[0].command.pipeline if tries else None
    if pipeline is None or tries[0].literal is None or not right(tries[0]):
        return list(tries)
    same = next((t.output for t in tries if t.ran == pipeline), None)  # it holds the word of the text
    return [replace(tries[0], delivered=same or runner.run(pipeline, tries[0].command.data)), *tries[1:]]


def with_unusual_queries(
    edition: str, survey: Survey, calls: Sequence[Call], going: Callable[[], object] = lambda: None
) -> tuple[Try, ...]:
    """Runs of the commands that no descriptor of the survey has, as they stand: the query may be in them.

    One that runs out of time or memory is the last: no query is to blame for it, and the next may do the same.
    """
    seen = {without_path(c) for call in survey.files for c in commands_of(call)}
    found: list[Try] = []
    with RecipeRunner() as runner:
        for call in (c for c in calls if c.filed):
            by_number = {role.number: role for role in roles(edition, call)}
            for command in commands_of(call):
                role, text = by_number.get(command.index + 1), without_path(command)
                if role is None or text in seen or command.pipeline is None:
                    continue
                seen.add(text)
                going()
                try:
                    one = next(_runs(runner, edition, role, command, command.pipeline))
                    bare = runner.run(command.pipeline, command.data)
                except EngineError:
                    continue
                if one.output.problem or bare.problem:
                    return tuple(found)
                # Made to look for something, it may be as broken: what a quote ended is still there.
                found.append(replace(one, delivered=bare, literal=one.literal if compiles(one.output) else None))
    return tuple(found)


def _beside(runner: RecipeRunner, wrong: Try) -> Try:
    """A wrong run, beside one over the records alone."""
    alone = None if wrong.ran is None else of_the_records_alone(wrong.ran)
    if alone is None:
        return wrong
    return replace(wrong, header_left_out=same_output(wrong.output, runner.run(alone, wrong.command.data)))
