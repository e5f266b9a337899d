"""A descriptor's recipes, run on the beginning of its file and compared with what the standard ones mean.

Commands are parsed and never handed to a shell; their programs run in libjq, in a child process with limits.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lro_spec.display import shown
from lro_spec.editions import Edition, StandardRecipe
from lro_spec.findings import Finding, Kind
from lro_spec.recipes.compare import (
    Agreement,
    agrees,
    compiles,
    fails_by_its_literal,
    of_the_records_alone,
    probe,
    same_output,
)
from lro_spec.recipes.oracle import standard
from lro_spec.recipes.pipeline import JqCall, Pipeline, parse_command
from lro_spec.recipes.probes import literals
from lro_spec.recipes.runner import EngineError, JqRunner
from lro_spec.recipes.shell import RecipeSyntaxError

PATIENCE_S = 20.0
"""How long all recipes of a descriptor may run."""

_ONE_S = 4.0
_MEMORY = 512_000_000
_OUTPUT = 16_000_000
_MOST_RECIPES = 40


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file."""

    lines: bytes
    """The header's line and some records', each with its line feed."""
    header: Mapping[str, Any]
    records: Sequence[dict[str, Any]]
    """What those lines hold."""


def recipes_against_file(descriptor: Mapping[str, Any], sample: Sample, text: Edition) -> Iterator[Finding]:
    """Which standard recipes a descriptor has nothing for that does what it should on its own file.

    Those at other places are compiled, and not run.
    """
    commands = list(_understood(descriptor["jq_recipes"]))
    said = sample.header.get("detail")
    detail = said if isinstance(said, str) and said in text.details else "full"
    until = time.monotonic() + PATIENCE_S
    with _runner() as runner:
        trial = _Trial(runner, sample, text.name, detail)
        standards = text.recipes_at(detail)
        short = len(descriptor["jq_recipes"]) < len({recipe.number for recipe in standards})
        for recipe in standards:
            if time.monotonic() > until:
                yield _out_of_time()
                return
            found = list(trial.of(recipe.number, recipe.description, commands))
            # Where one is left out, those behind it are not at their places.
            others = [other for other in standards if other.number != recipe.number]
            if short and all(f.severity == "error" for f in found):
                if not trial.is_done(recipe, commands):
                    message = f"no recipe does what recipe {recipe.number} is for ({recipe.description.lower()})"
                    expected, observed = f"the {len(standards)} of the text", "fewer"
                    yield Finding(
                        "LRO-REC-13",
                        Kind.MISSING_RECIPE,
                        "/jq_recipes",
                        message,
                        expected,
                        observed,
                        severity="warning",
                    )
                found = [] if trial.does_one_of(others, recipe.number - 1, commands) else found
            yield from found
        tried = {recipe.number - 1 for recipe in standards}
        others = [place for place in range(len(descriptor["jq_recipes"])) if place not in tried]
        yield from _unreadable(runner, descriptor["jq_recipes"], others, until)


def recipes_compiled(descriptor: Mapping[str, Any]) -> Iterator[Finding]:
    """Which recipes have a program that jq cannot read, where there is nothing to run them on."""
    recipes: Sequence[Mapping[str, Any]] = descriptor["jq_recipes"]
    until = time.monotonic() + PATIENCE_S
    with _runner() as runner:
        yield from _unreadable(runner, recipes, range(len(recipes)), until)


def _runner() -> JqRunner:
    return JqRunner(timeout_s=_ONE_S, memory=_MEMORY, max_output=_OUTPUT, ends_with_thread=True)


def _unreadable(
    runner: JqRunner, recipes: Sequence[Mapping[str, Any]], places: Iterable[int], until: float
) -> Iterator[Finding]:
    for index in (place for place in places if place < _MOST_RECIPES):
        if time.monotonic() > until:
            yield _out_of_time()
            return
        try:
            pipeline = parse_command(recipes[index]["command"])
            wrong = next(filter(None, (_problem(runner, call) for call in (pipeline.jq, *pipeline.more))), None)
        except (RecipeSyntaxError, EngineError):
            continue  # the former is told where the descriptor is judged by itself
        if wrong is not None:
            # A jq that is younger than the one here may have the function.
            severity = "warning" if "is not defined" in wrong else "error"
            message, expected = "the command's program is none that jq can read", "a program that jq compiles"
            where = f"/jq_recipes/{index}/command"
            yield Finding("LRO-REC-13", Kind.BAD_PROGRAM, where, message, expected, wrong, severity=severity)


def _out_of_time() -> Finding:
    message, expected = "recipes were not run to the end", f"all of them within {PATIENCE_S:g} s"
    return Finding("LRO-REC-13", Kind.NOT_EVALUATED, "/jq_recipes", message, expected, "more", severity="warning")


def _problem(runner: JqRunner, call: JqCall) -> str | None:
    """What jq says against a program; None where it can be read."""
    # Without input, and without a value to begin with, a program is compiled and does nothing.
    alone = Pipeline("", 0, replace(call, null_input=False, slurp=False), ())
    done = runner.run(alone, b"")
    return None if compiles(done) else done.stderr.partition("\n")[0].removeprefix("jq: error: ")


def _understood(recipes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Pipeline]]:
    for index, recipe in enumerate(recipes[:_MOST_RECIPES]):
        try:
            yield index, parse_command(recipe["command"])
        except RecipeSyntaxError:
            continue  # told where the descriptor is judged by itself


@dataclass(frozen=True, slots=True)
class _Trial:
    runner: JqRunner
    sample: Sample
    edition: str
    detail: str

    def of(self, number: int, description: str, commands: Sequence[tuple[int, Pipeline]]) -> Iterator[Finding]:
        """The finding where neither the command at its place nor any other does what a standard recipe does.

        What jq cannot read at all is told whatever the others do: where a recipe has nothing to find, any that finds
        nothing does the same.
        """
        own = [c for c in commands if c[0] == number - 1]
        told: Finding | None = None
        for index, pipeline in (*own, *(c for c in commands if c not in own)):
            finding = self._finding(number, description, index, pipeline)
            broken = self._broken(number, index, pipeline) if finding is None or finding.severity == "warning" else None
            if broken is not None and index == number - 1:
                yield broken
                return
            finding = broken or finding
            if finding is None or (index != number - 1 and finding.kind is Kind.NOT_EVALUATED):
                return
            if index == number - 1 and (finding.severity == "warning" or not self._compiles(pipeline)):
                yield finding
                return
            if index == number - 1:
                told = finding
        if told is not None:
            yield told

    def _compiles(self, pipeline: Pipeline) -> bool:
        try:
            return compiles(self.runner.run(pipeline, self.sample.lines))
        except EngineError:
            return True

    def is_done(self, recipe: StandardRecipe, commands: Sequence[tuple[int, Pipeline]]) -> bool:
        """Whether some command does what a standard recipe does, as well as that can be done."""
        found = (self._finding(recipe.number, recipe.description, *command) for command in commands)
        return any(finding is None or finding.severity == "warning" for finding in found)

    def does_one_of(
        self, recipes: Sequence[StandardRecipe], index: int, commands: Sequence[tuple[int, Pipeline]]
    ) -> bool:
        """Whether the command at a place does what one of these standard recipes does, as well as that can be done."""
        here = [pipeline for place, pipeline in commands if place == index]
        found = (self._finding(r.number, r.description, index, p) for p in here for r in recipes)
        return any(finding is None or finding.severity == "warning" for finding in found)

    def _finding(self, number: int, description: str, index: int, pipeline: Pipeline) -> Finding | None:
        where = f"/jq_recipes/{index}/command"
        try:
            return self._judged(number, description, where, pipeline)
        except EngineError as problem:  # nothing was seen, so nobody is accused
            message, expected = f"recipe {number} was not run", "a program that libjq can run by itself"
            return Finding("LRO-REC-13", Kind.NOT_EVALUATED, where, message, expected, str(problem), severity="warning")

    def _judged(self, number: int, description: str, where: str, pipeline: Pipeline) -> Finding | None:
        for literal in literals(standard(number, self.edition, self.detail).effect, self.sample.records):
            found = self._run(number, pipeline, literal)
            if found.ok:
                continue
            looking = f", looking for {shown(literal)}" if literal is not None else ""
            if found.erratum is not None:
                message = f"recipe {number} fails on this file as the specification prints it: {found.erratum}"
                rule = standard(number, self.edition, self.detail).requirement
                return Finding(
                    rule, Kind.FAILS_AS_PRINTED, where, message, found.expected, found.observed, severity="warning"
                )
            if found.with_header or self._header_matters(number, pipeline, literal):
                message = f"recipe {number} does not read from line 2 on"
                hint = "skip the header, and nothing else: tail -n +2"
                return Finding("LRO-REC-12", Kind.READS_HEADER, where, message, found.expected, found.observed, hint)
            message = f"recipe {number} does not do what it is for ({description.lower()}{looking})"
            rule = standard(number, self.edition, self.detail).requirement
            return Finding(rule, Kind.WRONG_OUTPUT, where, message, found.expected, found.observed)
        return None

    def _broken(self, number: int, index: int, pipeline: Pipeline) -> Finding | None:
        """The finding where what a command looks for, as it stands, is what jq fails by."""
        role = standard(number, self.edition, self.detail)
        looked = [self._looking(number, pipeline, word) for word in literals(role.effect, self.sample.records)]
        changed, literal = looked[0]
        if literal is None or any(pipeline == one for one, _ in looked):
            return None  # it looks for nothing, or was judged as it stands
        try:
            delivered, probed = (self.runner.run(each, self.sample.lines) for each in (pipeline, changed))
        except EngineError:
            return None
        observed = fails_by_its_literal(delivered, probed)
        if observed is None:
            return None
        message = f"recipe {number} fails by what it looks for as it stands"
        expected, hint = (
            f"no error, as where it looks for {shown(literal)}",
            "quote what comes from a query, or leave a word",
        )
        return Finding(
            role.requirement, Kind.BAD_LITERAL, f"/jq_recipes/{index}/command", message, expected, observed, hint
        )

    def _header_matters(self, number: int, pipeline: Pipeline, literal: str | None) -> bool:
        """Whether a wrong output is another one than over the records alone."""
        changed, _ = self._looking(number, pipeline, literal)
        alone = of_the_records_alone(changed)
        if pipeline.skip == 1 or alone is None:
            return False
        try:
            outputs = [self.runner.run(each, self.sample.lines) for each in (changed, alone)]
        except EngineError:
            return False
        return not same_output(*outputs)

    def _looking(self, number: int, pipeline: Pipeline, literal: str | None) -> tuple[Pipeline, str | None]:
        options: dict[str, Any] = {"header": self.sample.header, "edition": self.edition, "detail": self.detail}
        changed = probe(pipeline, number, literal, **options) if literal is not None else pipeline
        return (pipeline, None) if changed is None else (changed, literal)

    def _run(self, number: int, pipeline: Pipeline, literal: str | None) -> Agreement:
        options: dict[str, Any] = {"edition": self.edition, "detail": self.detail}
        changed, literal = self._looking(number, pipeline, literal)
        output = self.runner.run(changed, self.sample.lines)
        return agrees(number, output, self.sample.records, literal, header=self.sample.header, **options)
