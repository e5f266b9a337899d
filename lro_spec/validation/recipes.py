"""A descriptor's recipes, run on the beginning of its file and compared with what the standard ones mean.

Commands are parsed and never handed to a shell; their programs run in libjq, in a child process with limits.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, cast

from lro_spec.display import shown
from lro_spec.editions import Edition, StandardRecipe
from lro_spec.findings import Finding, Kind
from lro_spec.recipes.bounded import BoundedRunner
from lro_spec.recipes.compare import (
    agrees,
    compiles,
    fails_by_its_literal,
    of_the_records_alone,
    probe,
    same_output,
)
from lro_spec.recipes.pipeline import JqCall, Pipeline, parse_command
from lro_spec.recipes.probes import literals
from lro_spec.recipes.runner import EngineError, JqRun
from lro_spec.recipes.shell import RecipeSyntaxError

PATIENCE_S = 20.0
"""How long all recipes of a descriptor may run."""

FEW_RECORDS = 12
"""On how many records recipes are run where the same ones were run on another file of that level before."""

_MEMORY = 512_000_000
_OUTPUT = 1 << 20
_OUTPUT_TIMES = 16
"""How many times its file a recipe may give beyond that."""
_MOST_RECIPES = 40

_NOT_UNDERSTOOD = "its command could not be understood"
_HIDDEN = "a descriptor has too few recipes (LRO-REC-13), and its file cannot tell which are missing"
_SKIPS = "it does not skip the header, or more than that"


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file."""

    lines: bytes
    """The header's line and some records', each with its line feed."""
    header: Mapping[str, Any]
    records: Sequence[dict[str, Any]]
    """What those lines hold."""

    def cut(self, records: int) -> Sample:
        """As many records of it at most."""
        if len(self.records) <= records:
            return self
        lines = self.lines.split(b"\n", records + 1)[: records + 1]
        return Sample(b"".join(line + b"\n" for line in lines), self.header, self.records[:records])


@dataclass(frozen=True, slots=True)
class Judgement:
    """The findings in the recipes of one descriptor."""

    findings: tuple[Finding, ...]
    undecided: Mapping[str, str | None]
    """The requirements of the standard recipes: None for one that was decided, else the reason why it was not."""


def level_in(text: Edition, header: object, summary: object) -> str:
    """The detail level whose recipes of an edition a file has: its header's, else its descriptor's, else full."""
    named = (_member(part, "detail") for part in (header, summary))
    return next((level for level in named if isinstance(level, str) and level in text.details), "full")


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


class RecipeJudge:
    """Judges the recipes of any number of descriptors by one child process; a context manager.

    The same commands are run once on the same records, and what a limit ended is run on no other file. Every word that
    a recipe can be made to look for is looked for in the first file that has its command, for each detail level. In
    other files it is the word of the text alone, and where that holds for all recipes of a descriptor, they are run on
    the first `FEW_RECORDS`. So the largest file should come first.
    """

    def __init__(
        self,
        *,
        fallback: bool = False,
        compares: bool = False,
        every_word: bool = False,
    ) -> None:
        """With *fallback*, an installed jq runs what libjq cannot; if it *compares*, that jq runs each command, too.
        With *every_word*, every word is looked for in every file.
        """
        self.compares = compares
        self.every_word = every_word
        self.runner = BoundedRunner(fallback=fallback, memory=_MEMORY)
        self.ended: set[str] = set()
        """The commands that a limit ended."""
        self.searched: set[tuple[object, ...]] = set()
        """The commands that every word was looked for by, with the effect and the level."""
        self.unfit: set[tuple[str, str]] = set()
        """The effects that a command at another place did not have, with that command."""
        self.first: dict[tuple[str, str, str], tuple[_Trial, int]] = {}
        """By edition, detail level and command: the first file that had the command, and its place there."""
        self.compared: set[tuple[str, str]] = set()
        """The effects and commands that the machine's jq has run, too."""
        self._known: dict[tuple[object, ...], Judgement] = {}
        self._problems: dict[str, str | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the child process."""
        self.runner.close()

    def judge(self, descriptor: Mapping[str, Any], sample: Sample | str, text: Edition) -> Judgement:
        """The standard recipes that a descriptor has nothing for that does what it should on its own file.

        Those at other places are compiled, and not run; and so are all, where *sample* is the reason why they cannot
        be run.
        """
        if isinstance(sample, str):
            rules = [recipe.requirement for recipe in text.recipes]
            return Judgement(tuple(self._compiled(descriptor)), dict.fromkeys(rules, sample))
        recipes = _commands(descriptor)
        commands = dict(_understood(recipes))
        detail = level_in(text, sample.header, descriptor.get("summary"))
        own = ((r, commands[r.number - 1]) for r in text.recipes_at(detail) if r.number - 1 in commands)
        if not self.every_word and self.searched.issuperset(_search(*one, text.name, detail) for one in own):
            sample = sample.cut(FEW_RECORDS)
        key = (text.name, detail, *_alike(sample, commands, recipes))
        if key not in self._known:
            trial = _Trial(self, sample, text, detail, commands, len(recipes))
            found = list(trial.findings())
            tried = {recipe.number - 1 for recipe in text.recipes_at(detail)}
            others = [place for place in range(len(recipes)) if place not in tried]
            found += self._unreadable(recipes, others, trial.until)
            self.ended |= trial.ended.keys()
            self._known[key] = Judgement(tuple(found), trial.undecided)
        return self._known[key]

    def _compiled(self, descriptor: Mapping[str, Any]) -> Iterator[Finding]:
        """The recipes that have a program which jq cannot read."""
        recipes = _commands(descriptor)
        yield from self._unreadable(recipes, range(len(recipes)), time.monotonic() + PATIENCE_S)

    def _unreadable(self, recipes: Sequence[str | None], places: Iterable[int], until: float) -> Iterator[Finding]:
        commands = dict(_understood(recipes))
        for index in (place for place in places if place in commands):
            if time.monotonic() > until:
                yield _out_of_time()
                return
            try:
                pipeline = commands[index]
                wrong = next(filter(None, (self._problem(call) for call in (pipeline.jq, *pipeline.more))), None)
            except EngineError:
                continue
            if wrong is not None:
                # A jq that is younger than the one here may have the function.
                younger = "is not defined" in wrong
                message, expected = "the command's program is none that jq can read", "a program that jq compiles"
                where, kind = f"/jq_recipes/{index}/command", Kind.NOT_EVALUATED if younger else Kind.BAD_PROGRAM
                severity = "warning" if younger else "error"
                yield Finding("LRO-REC-13", kind, where, message, expected, wrong, severity=severity)

    def _problem(self, call: JqCall) -> str | None:
        """The error of jq against a program; None where it can be read."""
        # Without input, and without a value to begin with, a program is compiled and does nothing.
        alone = Pipeline("", 0, replace(call, null_input=False, slurp=False), ())
        key = _text(alone)
        if key not in self._problems:
            done = self.runner.run(alone, b"")
            wrong = None if compiles(done) else done.stderr.partition("\n")[0].removeprefix("jq: error: ")
            self._problems[key] = wrong
        return self._problems[key]


def _commands(descriptor: Mapping[str, Any]) -> list[str | None]:
    """The commands of a descriptor; None in the place of what is none."""
    said = (_member(recipe, "command") for recipe in descriptor["jq_recipes"])
    return [command if isinstance(command, str) else None for command in said]


def _understood(recipes: Sequence[str | None]) -> Iterator[tuple[int, Pipeline]]:
    for index, command in enumerate(recipes[:_MOST_RECIPES]):
        try:
            if command is not None:
                yield index, parse_command(command)
        except RecipeSyntaxError:
            continue  # reported where the descriptor is judged by itself


def _text(pipeline: Pipeline) -> str:
    """The command without the file's path."""
    return repr(replace(pipeline, path="", stages=()))


def _search(recipe: StandardRecipe, pipeline: Pipeline, edition: str, detail: str) -> tuple[object, ...]:
    """Everything that tells one search of every word from another."""
    return recipe.effect, _text(pipeline), edition, detail


def _alike(sample: Sample, commands: Mapping[int, Pipeline], recipes: Sequence[object]) -> Iterator[object]:
    """The parts of a descriptor's recipes and of its file on which their judgement depends."""
    yield from (len(recipes), *((index, _text(pipeline)) for index, pipeline in commands.items()))
    header, _, records = sample.lines.partition(b"\n")
    yield records
    # Of the header, recipes that skip it know nothing; its texts tell it from what they look for.
    skipped = all(one.skip and one.last is None and one.without is None for one in commands.values())
    texts = ((k, v) for k, v in sample.header.items() if isinstance(v, str) and k != "timestamp")
    yield (*sample.header, *texts) if skipped else header


def _out_of_time() -> Finding:
    message, expected = "recipes were not run to the end", f"all of them within {PATIENCE_S:g} s"
    return Finding("LRO-REC-13", Kind.NOT_EVALUATED, "/jq_recipes", message, expected, "more", severity="warning")


class _Trial:
    """The recipes of one descriptor, run on one file."""

    def __init__(
        self,
        judge: RecipeJudge,
        sample: Sample,
        text: Edition,
        detail: str,
        commands: Mapping[int, Pipeline],
        listed: int,
    ) -> None:
        self.until = time.monotonic() + PATIENCE_S
        self.ended: dict[str, JqRun] = {}
        self.undecided: dict[str, str | None] = {}
        self._judge = judge
        self._sample = sample
        self._standards = text.recipes_at(detail)
        self._spelled: dict[str, Any] = {"edition": text.name, "detail": detail}
        self._commands = commands
        self._listed = listed
        self._short = listed < len({recipe.number for recipe in self._standards})
        self._outputs: dict[str, JqRun] = {}
        self._outcomes: dict[tuple[int, int], Finding | None] = {}
        for place, pipeline in commands.items():
            judge.first.setdefault((text.name, detail, _text(pipeline)), (self, place))
        judge.runner.max_output = _OUTPUT + _OUTPUT_TIMES * len(sample.lines)

    def findings(self) -> Iterator[Finding]:
        """The findings of the standard recipes; `undecided` is complete then."""
        late = False
        for recipe in self._standards:
            rule = recipe.requirement
            if late or time.monotonic() > self.until:
                self.undecided[rule] = "recipes were not run to the end"
                if not late:
                    yield _out_of_time()
                late = True
                continue
            self.undecided[rule] = None
            found = list(self._of(recipe))
            yield from found
            if [f.kind for f in found] == [Kind.READS_HEADER]:
                self.undecided[rule] = _SKIPS

    def _of(self, recipe: StandardRecipe) -> Iterator[Finding]:
        """The findings where neither the command at its place nor any other does what a standard recipe does.

        What jq cannot read at all is reported whatever the others do: where a recipe has nothing to find, any that
        finds nothing does the same.
        """
        place = recipe.number - 1
        own: Finding | None = None
        if place in self._commands:
            own = self._outcome(recipe, place)
            if own is None:
                return
            if own.kind in (Kind.FAILS_AS_PRINTED, Kind.BAD_LITERAL):
                yield own
                return
            if not self._compiles(place):
                yield replace(own, kind=Kind.BAD_PROGRAM)
                return
        fits: list[Finding] = []
        for index, pipeline in self._commands.items():
            as_other = (recipe.effect, _text(pipeline))
            if index == place or as_other in self._judge.unfit:
                continue
            other = self._outcome(recipe, index)
            if other is None:  # few records are soon right by chance: it must do so on the first file, too
                trial, first_place = self._judge.first[(*self._spelled.values(), as_other[1])]
                other = trial._outcome(recipe, first_place) if trial is not self else None
            if other is None:
                return
            if other.severity == "error":
                self._judge.unfit.add(as_other)  # a few records of another file may be right by chance
            else:
                fits.append(other)
        unrun = next((f for f in (own, *fits) if f is not None and f.kind is Kind.NOT_EVALUATED), None)
        if unrun is not None:
            self.undecided[recipe.requirement] = unrun.sentence
            if unrun is own:
                yield unrun
        elif place < self._listed and own is None:
            self.undecided[recipe.requirement] = _NOT_UNDERSTOOD
        elif self._short:
            if fits:
                self.undecided[recipe.requirement] = _HIDDEN
            else:
                message = f"no recipe does what recipe {recipe.number} is for ({recipe.description.lower()})"
                expected, rule = f"the {len(self._standards)} of the text", recipe.requirement
                yield Finding(rule, Kind.MISSING_RECIPE, "/jq_recipes", message, expected, "fewer", severity="warning")
            # Where one is left out, those behind it are not at their places.
            if own is not None and not self._does_another(recipe, place):
                yield own
        elif own is not None:
            yield own

    def _does_another(self, recipe: StandardRecipe, place: int) -> bool:
        """Return whether the command at a place does what another standard recipe does, as well as that can be done."""
        found = (self._outcome(other, place) for other in self._standards if other.number != recipe.number)
        return any(finding is None or finding.severity == "warning" for finding in found)

    def _compiles(self, place: int) -> bool:
        try:
            return compiles(self._run(self._commands[place], self._commands[place]))
        except EngineError:
            return True

    def _outcome(self, recipe: StandardRecipe, place: int) -> Finding | None:
        """The finding against the command at a place as one that does what a standard recipe does."""
        key = (recipe.number, place)
        if key not in self._outcomes:
            where = f"/jq_recipes/{place}/command"
            try:
                self._outcomes[key] = self._compared(recipe, where, self._commands[place])
            except EngineError as problem:  # nothing was seen, so nothing is held against it
                message, expected = f"recipe {recipe.number} was not run", "a program that libjq can run by itself"
                self._outcomes[key] = Finding(
                    "LRO-REC-13", Kind.NOT_EVALUATED, where, message, expected, str(problem), severity="warning"
                )
        return self._outcomes[key]

    def _compared(self, recipe: StandardRecipe, where: str, pipeline: Pipeline) -> Finding | None:
        words = literals(recipe.effect, self._sample.records)
        search = _search(recipe, pipeline, **self._spelled)
        if search in self._judge.searched and not self._judge.every_word:
            return self._wrong(recipe, where, pipeline, words[-1])
        wrong = next(filter(None, (self._wrong(recipe, where, pipeline, word) for word in words)), None)
        self._judge.searched.add(search)
        if wrong is None or wrong.severity == "warning":
            return self._broken(recipe, where, pipeline, words) or wrong or self._by_machine(recipe, where, pipeline)
        return wrong

    def _wrong(
        self, recipe: StandardRecipe, where: str, pipeline: Pipeline, word: str | None, done: JqRun | None = None
    ) -> Finding | None:
        """The finding where a command does not find a word as it should, in what it gave (*done*) or would give."""
        changed, literal = self._looking(recipe, pipeline, word)
        output = self._run(changed, pipeline) if done is None else done
        sample, number = self._sample, recipe.number
        found = agrees(number, output, sample.records, literal, header=sample.header, **self._spelled)
        if found.ok:
            return None
        looking = f", looking for {shown(word)}" if word is not None else ""
        if found.erratum is not None:
            message = f"recipe {number} fails on this file as the specification prints it: {found.erratum}"
            kind, severity = Kind.FAILS_AS_PRINTED, "warning"
            return Finding(recipe.requirement, kind, where, message, found.expected, found.observed, severity=severity)
        if found.with_header or self._header_matters(changed, pipeline):
            message = f"recipe {number} does not read from line 2 on"
            hint = "skip the header, and nothing else: tail -n +2"
            return Finding("LRO-REC-12", Kind.READS_HEADER, where, message, found.expected, found.observed, hint)
        message = f"recipe {number} does not do what it is for ({recipe.description.lower()}{looking})"
        return Finding(recipe.requirement, Kind.WRONG_OUTPUT, where, message, found.expected, found.observed)

    def _by_machine(self, recipe: StandardRecipe, where: str, pipeline: Pipeline) -> Finding | None:
        """The finding where the machine's jq gives something else; one too old to read a program tells nothing."""
        once = (recipe.effect, _text(pipeline))
        if not self._judge.compares or once in self._judge.compared:
            return None
        installed = self._judge.runner.installed
        if installed is None:
            return None
        self._judge.compared.add(once)
        word = literals(recipe.effect, self._sample.records)[-1]
        try:
            done = installed.run(self._looking(recipe, pipeline, word)[0], self._sample.lines)
        except EngineError:
            return None
        return self._wrong(recipe, where, pipeline, word, done) if compiles(done) else None

    def _broken(
        self, recipe: StandardRecipe, where: str, pipeline: Pipeline, words: Sequence[str | None]
    ) -> Finding | None:
        """The finding where the word that a command looks for, as it stands, makes jq fail."""
        looked = [self._looking(recipe, pipeline, word) for word in words]
        changed, literal = looked[0]
        if literal is None or any(pipeline == one for one, _ in looked):
            return None  # it looks for nothing, or was judged as it stands
        try:
            delivered, probed = (self._run(each, pipeline) for each in (pipeline, changed))
        except EngineError:
            return None
        observed = fails_by_its_literal(delivered, probed)
        if observed is None:
            return None
        message = f"recipe {recipe.number} fails by what it looks for as it stands"
        expected = f"no error, as where it looks for {shown(literal)}"
        hint = "quote what comes from a query, or leave a word"
        return Finding(recipe.requirement, Kind.BAD_LITERAL, where, message, expected, observed, hint)

    def _header_matters(self, changed: Pipeline, pipeline: Pipeline) -> bool:
        """Return whether a wrong output is another one than over the records alone."""
        alone = of_the_records_alone(changed)
        if pipeline.skip == 1 or alone is None:
            return False
        try:
            return not same_output(self._run(changed, pipeline), self._run(alone, pipeline))
        except EngineError:
            return False

    def _looking(self, recipe: StandardRecipe, pipeline: Pipeline, word: str | None) -> tuple[Pipeline, str | None]:
        """The command made to look for a word, and that word; where it cannot be, as it stands, and None."""
        if word is None:
            return pipeline, None
        changed = probe(pipeline, recipe.number, word, header=self._sample.header, **self._spelled)
        return (pipeline, None) if changed is None else (changed, word)

    def _run(self, changed: Pipeline, pipeline: Pipeline) -> JqRun:
        """One run of a command, which may be changed from how it stands in the descriptor. Raises `EngineError`."""
        own, key = _text(pipeline), _text(changed)
        if own in self.ended:
            return self.ended[own]
        if own in self._judge.ended:
            raise EngineError("a limit ended it on another file")
        if key not in self._outputs:
            self._outputs[key] = done = self._judge.runner.run(changed, self._sample.lines)
            if done.problem:
                self.ended[own] = done
        return self._outputs[key]
