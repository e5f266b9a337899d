"""Runs a descriptor's recipes on the beginning of its file and compares them with the standard recipes.

Commands are parsed and never handed to a shell; their programs run in libjq, in a child process with limits.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from types import TracebackType
from typing import Any, Self, cast

from lro_spec.display import show
from lro_spec.editions import Edition, StandardRecipe
from lro_spec.findings import Finding, Kind
from lro_spec.recipes.bounded import BoundedRunner
from lro_spec.recipes.compare import (
    Agreement,
    agrees,
    compiles,
    literal_error,
    on_records_alone,
    probe,
    same_output,
)
from lro_spec.recipes.oracle import DEFAULT_LITERAL, IN_ANY_CASE, fails_at, find_erratum
from lro_spec.recipes.pipeline import JqCall, Pipeline, parse_command
from lro_spec.recipes.probes import depends_on, literals, rearranged
from lro_spec.recipes.runner import EngineError, JqRun
from lro_spec.recipes.shell import RecipeSyntaxError
from lro_spec.validation.record import record_errors

PATIENCE_S = 20.0
"""Time limit for all recipes of a descriptor together."""

FEW_RECORDS = 12
"""Recipes run on this many records at most if the same recipes already ran on another file of that detail level."""

_MEMORY = 512_000_000
_OUTPUT = 1 << 20
_OUTPUT_PER_INPUT_BYTE = 16
"""A command may print `_OUTPUT` bytes and this many more for each byte of its input."""
_MAX_RECIPES = 40
"""Recipes after this many are not examined."""

_NOT_UNDERSTOOD = "its command could not be understood"
_HIDDEN = "a descriptor has too few recipes (LRO-REC-13), and its file does not show which are missing"
_DOES_NOT_SKIP_HEADER = "it does not skip exactly the header line"
_INVALID_FIELD = "the field that it depends on is not valid in some records (LRO-FILE-11 or LRO-DET-01)"


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file."""

    lines: bytes
    """The header line and the first record lines, each with its line feed."""
    header: Mapping[str, Any]
    records: Sequence[dict[str, Any]]
    """The records of those lines."""
    is_part: bool = field(default=False, compare=False)
    """True if `head` left out records."""
    agreements: dict[tuple[object, ...], Agreement] = field(
        default_factory=dict[tuple[object, ...], Agreement], compare=False, repr=False
    )
    """Cache of the results of commands on these lines, except for those that a limit ended."""
    heads: dict[int, Sample] = field(default_factory=dict[int, "Sample"], compare=False, repr=False)
    """Cache of `head`, by the number of records."""

    others: dict[str, Sample | None] = field(default_factory=dict[str, "Sample | None"], compare=False, repr=False)
    """Cache of `with_other_values`, by effect."""

    def with_other_values(self, effect: str) -> Sample | None:
        """The sample with other values of the field on which an effect depends. None if its own values already tell a
        right command from a wrong one, or if no others can be given (`rearranged`)."""
        if effect not in self.others:
            records = rearranged(effect, self.records)
            self.others[effect] = None if records is None else self._with_records(records)
        return self.others[effect]

    def _with_records(self, records: Sequence[dict[str, Any]]) -> Sample:
        header = self.lines.partition(b"\n")[0]
        lines = (json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") for record in records)
        return Sample(b"".join(line + b"\n" for line in (header, *lines)), self.header, records)

    def head(self, records: int) -> Sample:
        """The sample limited to its first *records* records."""
        if len(self.records) <= records:
            return self
        if records not in self.heads:
            lines = self.lines.split(b"\n", records + 1)[: records + 1]
            data = b"".join(line + b"\n" for line in lines)
            self.heads[records] = Sample(data, self.header, self.records[:records], is_part=True)
        return self.heads[records]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Findings about the recipes of one descriptor."""

    findings: tuple[Finding, ...]
    undecided: Mapping[str, str | None]
    """For the requirement of each standard recipe, the reason why it was not decided; None if it was."""


def level_in(edition: Edition, header: object, summary: object) -> str:
    """The detail level that determines a file's recipes: that of its header, else of its descriptor, else full."""
    named = (_member(part, "detail") for part in (header, summary))
    return next((level for level in named if isinstance(level, str) and level in edition.details), "full")


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


class RecipeJudge:
    """Checks the recipes of any number of descriptors with one child process; a context manager.

    Identical commands run once on identical records. A command that hit a limit does not run on any later file.

    On the first file that has a command (in an edition, at a detail level), the command is tried with every search word
    that suits the records. On later files, it is only tried with the word for which the specification's own command
    searches; if that is so for all standard recipes of a descriptor, they run only on the first `FEW_RECORDS` records.
    So pass the largest file first.
    """

    def __init__(
        self,
        *,
        fallback: bool = False,
        compares: bool = False,
        every_word: bool = False,
    ) -> None:
        """With *fallback*, the installed jq runs programs that libjq cannot run. With *compares*, the installed jq also
        runs every command that is not wrong in libjq, once. With *every_word*, commands are tried with every search
        word on every file.
        """
        self.compares = compares
        self.every_word = every_word
        self.runner = BoundedRunner(fallback=fallback, memory=_MEMORY)
        self.ended: set[str] = set()
        """Commands that hit a limit."""
        self.fully_probed: set[tuple[object, ...]] = set()
        """Keys (`_search_key`) of commands that were tried with every search word."""
        self.mismatched: set[tuple[str, str]] = set()
        """(effect, command) pairs that do not match; found out for commands at another index than that of the standard
        recipe."""
        self.first: dict[tuple[str, str, str], tuple[_Trial, int]] = {}
        """The first file that had a command, and the command's index there, by edition, detail level and command."""
        self.compared: set[tuple[str, str]] = set()
        """(effect, command) pairs that the installed jq has run, too."""
        self.only_installed: list[Finding] = []
        """Findings about the output of the installed jq alone."""
        self._judgements: dict[tuple[object, ...], Judgement] = {}
        self._problems: dict[str, str | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the child process."""
        self.runner.close()

    def judge(self, descriptor: Mapping[str, Any], sample: Sample | str, edition: Edition) -> Judgement:
        """Find the standard recipes that no command of the descriptor implements correctly on the descriptor's file.

        Further recipes are compiled but not run. *sample* may be the reason why recipes cannot be run; then all of them
        are only compiled.
        """
        if isinstance(sample, str):
            rules = [recipe.requirement for recipe in edition.recipes]
            return Judgement(tuple(self._compiled(descriptor)), dict.fromkeys(rules, sample))
        recipes = _commands(descriptor)
        commands = dict(_understood(recipes))
        detail = level_in(edition, sample.header, descriptor.get("summary"))
        own = ((r, commands[r.number - 1]) for r in edition.recipes_at(detail) if r.number - 1 in commands)
        if not self.every_word and self.fully_probed.issuperset(_search_key(*one, edition.name, detail) for one in own):
            sample = sample.head(FEW_RECORDS)
        key = (edition.name, detail, *_judgement_key(sample, commands, recipes))
        if key not in self._judgements:
            trial = _Trial(self, sample, edition, detail, commands, len(recipes))
            found = list(trial.findings())
            tried = {recipe.number - 1 for recipe in edition.recipes_at(detail)}
            others = [place for place in range(len(recipes)) if place not in tried]
            found += self._unreadable(recipes, others, trial.until)
            self.ended |= trial.ended.keys()
            self._judgements[key] = Judgement(tuple(found), trial.undecided)
        return self._judgements[key]

    def _compiled(self, descriptor: Mapping[str, Any]) -> Iterator[Finding]:
        """Findings about recipes whose program jq cannot compile."""
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
                # A newer jq than this one may have the function.
                needs_newer_jq = "is not defined" in wrong
                message, expected = "jq cannot compile the command's program", "a program that jq compiles"
                where, kind = f"/jq_recipes/{index}/command", Kind.NOT_EVALUATED if needs_newer_jq else Kind.BAD_PROGRAM
                severity = "warning" if needs_newer_jq else "error"
                yield Finding("LRO-REC-13", kind, where, message, expected, wrong, severity=severity)

    def _problem(self, call: JqCall) -> str | None:
        """The error with which jq rejects a program; None if it compiles."""
        # Without input and without -n, jq compiles the program and runs nothing.
        alone = Pipeline("", 0, replace(call, null_input=False, slurp=False), ())
        key = _key_of(alone)
        if key not in self._problems:
            done = self.runner.run(alone, b"")
            wrong = None if compiles(done) else done.stderr.partition("\n")[0].removeprefix("jq: error: ")
            self._problems[key] = wrong
        return self._problems[key]


def _commands(descriptor: Mapping[str, Any]) -> list[str | None]:
    """The commands of a descriptor's recipes, by index; None for one that is not a string."""
    values = (_member(recipe, "command") for recipe in descriptor["jq_recipes"])
    return [command if isinstance(command, str) else None for command in values]


def _understood(recipes: Sequence[str | None]) -> Iterator[tuple[int, Pipeline]]:
    for index, command in enumerate(recipes[:_MAX_RECIPES]):
        try:
            if command is not None:
                yield index, parse_command(command)
        except RecipeSyntaxError:
            continue  # reported when the descriptor alone is validated


def _key_of(pipeline: Pipeline) -> str:
    """A key for a command without its file's path. It is made by `attrgetter`, which is fast, because it is computed
    hundreds of times per file."""
    return repr((_PIPELINE_FIELDS(pipeline), *map(_CALL_FIELDS, (pipeline.jq, *pipeline.more))))


_CALL_FIELDS = attrgetter(*(f.name for f in fields(JqCall)))
_PIPELINE_FIELDS = attrgetter(*(f.name for f in fields(Pipeline) if f.name not in ("path", "stages", "jq", "more")))


def _search_key(recipe: StandardRecipe, pipeline: Pipeline, edition: str, detail: str) -> tuple[object, ...]:
    """Key under which it is remembered that a command was tried with every search word."""
    return recipe.effect, _key_of(pipeline), edition, detail


def _judgement_key(sample: Sample, commands: Mapping[int, Pipeline], recipes: Sequence[object]) -> Iterator[object]:
    """Everything in a descriptor's recipes and its file that their judgement depends on."""
    yield from (len(recipes), *((index, _key_of(pipeline)) for index, pipeline in commands.items()))
    header, _, records = sample.lines.partition(b"\n")
    yield records
    # Recipes that skip the header cannot depend on its content. Only its keys and strings matter, because `probe`
    # takes literals that are among them for the search text only if there are no others.
    skipped = all(
        one.skip and (one.last is None or one.is_last_after) and one.without is None for one in commands.values()
    )
    texts = ((k, v) for k, v in sample.header.items() if isinstance(v, str) and k != "timestamp")
    yield (*sample.header, *texts) if skipped else header


def _out_of_time() -> Finding:
    message = f"not all recipes were run: the time limit of {PATIENCE_S:g} s for all of them was reached"
    return Finding("LRO-REC-13", Kind.NOT_EVALUATED, "/jq_recipes", message, "", "", severity="warning")


class _Trial:
    """The recipes of one descriptor, run on one file."""

    def __init__(
        self,
        judge: RecipeJudge,
        sample: Sample,
        edition: Edition,
        detail: str,
        commands: Mapping[int, Pipeline],
        listed: int,
    ) -> None:
        self.until = time.monotonic() + PATIENCE_S
        self.ended: dict[str, JqRun] = {}
        self.undecided: dict[str, str | None] = {}
        self._judge = judge
        self._sample = sample
        self._standards = edition.recipes_at(detail)
        self._edition = edition
        self._detail = detail
        self._edition_and_detail: dict[str, Any] = {"edition": edition.name, "detail": detail}
        self._commands = commands
        self._listed = listed
        self._too_few = listed < len({recipe.number for recipe in self._standards})
        self._outputs: dict[str, JqRun] = {}
        self._outcomes: dict[tuple[int, int], Finding | None] = {}
        self._change = ""
        """Change of the records compared with the file, as the end of a sentence; empty if there is none."""
        for place, pipeline in commands.items():
            judge.first.setdefault((edition.name, detail, _key_of(pipeline)), (self, place))
        judge.runner.max_output = _OUTPUT + _OUTPUT_PER_INPUT_BYTE * len(sample.lines)

    def findings(self) -> Iterator[Finding]:
        """The findings of all standard recipes; `undecided` is complete once they are exhausted."""
        late = False
        for recipe in self._standards:
            rule = recipe.requirement
            if late or time.monotonic() > self.until:
                self.undecided[rule] = "not all recipes were run"
                if not late:
                    yield _out_of_time()
                late = True
                continue
            self.undecided[rule] = None
            found = list(self._findings_for(recipe))
            paths = depends_on(recipe.effect), fails_at(recipe.effect)
            if found and any(self._invalid_fields.intersection(path[:1]) for path in paths):
                # a wrong output may only follow from the invalid values
                found = [f for f in found if f.kind not in (Kind.WRONG_OUTPUT, Kind.FAILS_AS_PRINTED)]
                self.undecided[rule] = _INVALID_FIELD
            yield from found
            if [f.kind for f in found] == [Kind.READS_HEADER]:
                self.undecided[rule] = _DOES_NOT_SKIP_HEADER

    def _findings_for(self, recipe: StandardRecipe) -> Iterator[Finding]:
        """Findings if no command, at the recipe's own index or any other, does what the standard recipe does.

        A program at the recipe's own index that jq cannot compile is always reported: if the recipe should return
        nothing, any other command that returns nothing would look right.
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
            as_other = (recipe.effect, _key_of(pipeline))
            if index == place or as_other in self._judge.mismatched or not self._can_search(recipe, pipeline):
                continue
            other = self._outcome(recipe, index)
            if other is None:  # a few records may match by chance, so the command must also match on the first file
                trial, first_place = self._judge.first[(*self._edition_and_detail.values(), as_other[1])]
                other = trial._outcome(recipe, first_place) if trial is not self else None
            if other is None:
                return
            if other.severity == "error":
                self._judge.mismatched.add(as_other)  # a few records of another file may match by chance
            else:
                fits.append(other)
        unrun = next((f for f in (own, *fits) if f is not None and f.kind is Kind.NOT_EVALUATED), None)
        if unrun is not None:
            self.undecided[recipe.requirement] = unrun.sentence
            if unrun is own:
                yield unrun
        elif place < self._listed and own is None:
            self.undecided[recipe.requirement] = _NOT_UNDERSTOOD
        elif self._too_few:
            if fits:
                self.undecided[recipe.requirement] = _HIDDEN
            else:
                message = f"no recipe does what recipe {recipe.number} is for ({recipe.description.lower()})"
                expected, observed = f"the edition's {len(self._standards)} recipes", f"{self._listed} recipes"
                yield Finding(
                    recipe.requirement,
                    Kind.MISSING_RECIPE,
                    "/jq_recipes",
                    message,
                    expected,
                    observed,
                    severity="warning",
                )
            # If a recipe is missing, those after it have moved up.
            if own is not None and not self._does_another(recipe, place):
                yield own
        elif own is not None:
            yield own

    @cached_property
    def _invalid_fields(self) -> frozenset[str]:
        """Fields that have, in some record, a value that the line schema does not allow."""
        errors = (error for record in self._sample.records for error in record_errors(record, self._detail))
        return frozenset(str(error.path[0]) for error in errors if error.path)

    def _can_search(self, recipe: StandardRecipe, pipeline: Pipeline) -> bool:
        """False if a recipe searches for a text, and the command cannot be rewritten to search for another text. Such a
        command may select the right records of a small file by chance."""
        word = DEFAULT_LITERAL.get(recipe.effect)
        return word is None or self._with_search_word(recipe, pipeline, word)[1] is not None

    def _does_another(self, recipe: StandardRecipe, place: int) -> bool:
        """True if the command at *place* does what a different standard recipe does; a warning counts as a match."""
        found = (self._outcome(other, place) for other in self._standards if other.number != recipe.number)
        return any(finding is None or finding.severity == "warning" for finding in found)

    def _compiles(self, place: int) -> bool:
        try:
            return compiles(self._run(self._commands[place], self._commands[place]))
        except EngineError:
            return True

    def _outcome(self, recipe: StandardRecipe, place: int) -> Finding | None:
        """The finding if the command at index *place* does not do what the standard recipe does; None if it does."""
        key = (recipe.number, place)
        if key not in self._outcomes:
            where = f"/jq_recipes/{place}/command"
            try:
                self._outcomes[key] = self._compared(recipe, where, self._commands[place])
            except EngineError as problem:  # nothing was observed, so this is no error
                message = f"recipe {recipe.number} was not run"
                expected = "a program that can be run here, within the limits"
                self._outcomes[key] = Finding(
                    "LRO-REC-13", Kind.NOT_EVALUATED, where, message, expected, str(problem), severity="warning"
                )
        return self._outcomes[key]

    def _compared(self, recipe: StandardRecipe, where: str, pipeline: Pipeline) -> Finding | None:
        """The finding if a command does not do what the standard recipe does, for any search word that is tried."""
        search = _search_key(recipe, pipeline, **self._edition_and_detail)
        if search in self._judge.fully_probed and not self._judge.every_word:
            return self._check_output(recipe, where, pipeline, DEFAULT_LITERAL.get(recipe.effect))
        words = literals(recipe.effect, self._sample.records)
        wrong = next(filter(None, (self._check_output(recipe, where, pipeline, word) for word in words)), None)
        self._judge.fully_probed.add(search)
        if wrong is None or wrong.severity == "warning":
            return (
                self._bad_literal(recipe, where, pipeline, words)
                or self._on_other_values(recipe, where, pipeline)
                or wrong
                or self._check_with_installed_jq(recipe, where, pipeline)
            )
        return wrong

    def _on_other_values(self, recipe: StandardRecipe, where: str, pipeline: Pipeline) -> Finding | None:
        """The finding if a command is wrong for other values of the field on which it depends.

        Other values are only tried if the file's own values do not tell a right command from a wrong one.
        """
        sample = self._sample.with_other_values(recipe.effect)
        if sample is None:
            return None
        trial = _Trial(self._judge, sample, self._edition, self._detail, {recipe.number - 1: pipeline}, self._listed)
        field = ".".join(depends_on(recipe.effect))
        trial._change = f" once the suite gives the file's records other values of .{field}"
        words = literals(recipe.effect, sample.records)
        return next(filter(None, (trial._check_output(recipe, where, pipeline, word) for word in words)), None)

    def _check_output(
        self, recipe: StandardRecipe, where: str, pipeline: Pipeline, word: str | None, done: JqRun | None = None
    ) -> Finding | None:
        """The finding if a command gives a wrong output when it searches for *word*. Its run is *done*; if that is
        None, it is run here."""
        changed, literal = self._with_search_word(recipe, pipeline, word)
        number, found = recipe.number, self._agreement(recipe.number, changed, pipeline, literal, done)
        if found.ok:
            return None
        search = f", searching for {show(word)}" if word is not None else ""
        search += " in any letter case" if recipe.effect in IN_ANY_CASE else ""
        if found.erratum is not None:
            return self._erratum(recipe, where, found)
        if found.with_header or self._header_matters(changed, pipeline):
            message = f"recipe {number} does not start reading at line 2"
            hint = "skip the header, and nothing else: tail -n +2"
            return Finding("LRO-REC-12", Kind.READS_HEADER, where, message, found.expected, found.observed, hint)
        message = f"recipe {number} ({recipe.description.lower()}{search}) gives the wrong output{self._change}"
        message += f"; {found.difference}" if found.difference else ""
        part = f"for the first {len(self._sample.records)} records: " if self._sample.is_part else ""
        change = "with the suite's values: " if self._change else ""
        expected = f"{part}{change}{found.expected}"
        return Finding(recipe.requirement, Kind.WRONG_OUTPUT, where, message, expected, found.observed)

    def _erratum(self, recipe: StandardRecipe, where: str, found: Agreement) -> Finding:
        """The warning about a command that fails on this file just as the specification's own command does."""
        known = find_erratum(recipe.number, self._sample.records, **self._edition_and_detail)
        named = f" ({known.number})" if known is not None and known.number else ""
        message = (
            f"recipe {recipe.number} fails on this file{self._change} because of an erratum in the specification"
            f"{named}, not a fault of the server: {found.erratum}"
        )
        hint = "nothing has to be repaired"
        if known is not None and known.remedy:
            hint += f"; a recipe with `{known.remedy}` works for such records, too"
        expected, observed = found.expected, found.observed
        kind = Kind.FAILS_AS_PRINTED
        return Finding(recipe.requirement, kind, where, message, expected, observed, hint, severity="warning")

    def _agreement(
        self, number: int, changed: Pipeline, pipeline: Pipeline, literal: str | None, done: JqRun | None
    ) -> Agreement:
        """The comparison of an output with the expected one. It is the output of the run *done*; if that is None, it is
        that of *changed*, which is run unless the result is known."""
        sample, key = self._sample, (number, literal, *self._edition_and_detail.values(), _key_of(changed))
        may_be_known = done is None and _key_of(pipeline) not in self.ended.keys() | self._judge.ended
        if may_be_known and key in sample.agreements:
            return sample.agreements[key]
        output = self._run(changed, pipeline) if done is None else done
        found = agrees(number, output, sample.records, literal, header=sample.header, **self._edition_and_detail)
        if done is None and not output.problem:
            sample.agreements[key] = found
        return found

    def _check_with_installed_jq(self, recipe: StandardRecipe, where: str, pipeline: Pipeline) -> Finding | None:
        """The finding if the output of the installed jq is wrong. None as well if there is nothing to compare, for
        example because the installed jq is too old to compile the program."""
        once = (recipe.effect, _key_of(pipeline))
        if not self._judge.compares or once in self._judge.compared:
            return None
        installed = self._judge.runner.installed
        if installed is None:
            return None
        self._judge.compared.add(once)
        word = DEFAULT_LITERAL.get(recipe.effect)
        try:
            done = installed.run(self._with_search_word(recipe, pipeline, word)[0], self._sample.lines)
        except EngineError:
            return None
        found = self._check_output(recipe, where, pipeline, word, done) if compiles(done) else None
        if found is not None:
            self._judge.only_installed.append(found)
        return found

    def _bad_literal(
        self, recipe: StandardRecipe, where: str, pipeline: Pipeline, words: Sequence[str | None]
    ) -> Finding | None:
        """The finding if jq fails because of the search text that the command contains."""
        probes = [self._with_search_word(recipe, pipeline, word) for word in words]
        changed, literal = probes[0]
        if literal is None or any(pipeline == one for one, _ in probes):
            return None  # it searches for nothing, or was judged unchanged
        try:
            delivered, probed = (self._run(each, pipeline) for each in (pipeline, changed))
        except EngineError:
            return None
        observed = literal_error(delivered, probed)
        if observed is None:
            return None
        message = f"recipe {recipe.number} fails because of the search text inserted into it"
        expected = f"no error, as with the search text {show(literal)}"
        hint = "escape text taken from the query, or use a plain word"
        return Finding(recipe.requirement, Kind.BAD_LITERAL, where, message, expected, observed, hint)

    def _header_matters(self, changed: Pipeline, pipeline: Pipeline) -> bool:
        """True if the command does not skip exactly one line, and prints something else when it reads all lines but the
        header."""
        alone = on_records_alone(changed)
        if pipeline.skip == 1 or alone is None:
            return False
        try:
            return not same_output(self._run(changed, pipeline), self._run(alone, pipeline))
        except EngineError:
            return False

    def _with_search_word(
        self, recipe: StandardRecipe, pipeline: Pipeline, word: str | None
    ) -> tuple[Pipeline, str | None]:
        """The command rewritten to search for *word*, and the word; or the unchanged command and None if it cannot be
        rewritten."""
        if word is None:
            return pipeline, None
        changed = probe(pipeline, recipe.number, word, header=self._sample.header, **self._edition_and_detail)
        return (pipeline, None) if changed is None else (changed, word)

    def _run(self, changed: Pipeline, pipeline: Pipeline) -> JqRun:
        """Run *changed*, a variant of the descriptor's command *pipeline*, at most once.

        After a limit has ended one variant of a command, no other is run. Raises `EngineError`.
        """
        own, key = _key_of(pipeline), _key_of(changed)
        if own in self.ended:
            return self.ended[own]
        if own in self._judge.ended:
            raise EngineError("a limit ended the command on another file")
        if key not in self._outputs:
            self._outputs[key] = done = self._judge.runner.run(changed, self._sample.lines)
            if done.problem:
                self.ended[own] = done
        return self._outputs[key]
