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
from lro_spec.recipes.oracle import CASE_INSENSITIVE_EFFECTS, DEFAULT_LITERAL, fails_at, find_erratum
from lro_spec.recipes.pipeline import JqCall, Pipeline, parse_command
from lro_spec.recipes.probes import depends_on, literals, rearranged
from lro_spec.recipes.runner import EngineError, JqRun
from lro_spec.recipes.shell import RecipeSyntaxError
from lro_spec.validation.record import record_errors

PATIENCE_S = 20.0
"""Time limit for all recipes of a descriptor together."""

FEW_RECORDS = 12
"""Recipes run on at most this many records if the same recipes already ran on another file of the same detail level."""

_MEMORY_BYTES = 512_000_000
_OUTPUT_BYTES = 1 << 20
_OUTPUT_PER_INPUT_BYTE = 16
"""A command may print `_OUTPUT_BYTES` bytes, and this many more bytes for each byte of its input."""
_MAX_RECIPES = 40
"""Recipes after this many are not examined."""

_NOT_UNDERSTOOD = "its command could not be understood"
_TOO_FEW_RECIPES = "a descriptor has too few recipes (LRO-REC-13), and its file does not show which are missing"
_DOES_NOT_SKIP_HEADER = "it does not skip exactly the header line"
_INVALID_FIELD = "the field that it depends on is not valid in some records (LRO-FILE-11 or LRO-DET-01)"


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file."""

    lines: bytes
    """The header line and the first record lines, each with its line feed."""
    header: Mapping[str, Any]
    records: Sequence[dict[str, Any]]
    """The records in these lines."""
    is_part: bool = field(default=False, compare=False)
    """True if `head` left out records."""
    agreements: dict[tuple[object, ...], Agreement] = field(
        default_factory=dict[tuple[object, ...], Agreement], compare=False, repr=False
    )
    """Cache of the results of commands on these lines. Commands that were ended by a limit have no result."""
    heads: dict[int, Sample] = field(default_factory=dict[int, "Sample"], compare=False, repr=False)
    """Cache of `head`, by the number of records."""

    with_values_changed: dict[str, Sample | None] = field(
        default_factory=dict[str, "Sample | None"], compare=False, repr=False
    )
    """Cache of `with_other_values`, by effect."""

    def with_other_values(self, effect: str) -> Sample | None:
        """Return the sample with other values of the field on which an effect depends. Returns None if a right command
        and a wrong command already differ on its own values, or if it cannot have other values (`rearranged`)."""
        if effect not in self.with_values_changed:
            records = rearranged(effect, self.records)
            self.with_values_changed[effect] = None if records is None else self._with_records(records)
        return self.with_values_changed[effect]

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
    """For the requirement of each standard recipe, the reason why it was not decided, or None if it was decided."""


def level_in(edition: Edition, header: object, summary: object) -> str:
    """The detail level that determines a file's recipes. It is in the header or in the summary; the default is full."""
    named = (_member(part, "detail") for part in (header, summary))
    return next((level for level in named if isinstance(level, str) and level in edition.details), "full")


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


class RecipeJudge:
    """Checks the recipes of any number of descriptors with one child process; a context manager.

    Identical commands run once on identical records. A command that hit a limit does not run on any later file.

    On the first file that has a command (in an edition, at a detail level), the command is tried with every search word
    that suits the records. On later files, it is only tried with the word for which the specification's own command
    searches. If all standard recipes of a descriptor are only tried with this word, they run only on the first
    `FEW_RECORDS` records. So pass the largest file first.
    """

    def __init__(
        self,
        *,
        fallback: bool = False,
        compare_with_installed_jq: bool = False,
        every_word: bool = False,
    ) -> None:
        """With *fallback*, the installed jq runs programs that libjq cannot run. With *compare_with_installed_jq*,
        every command that is not wrong in libjq is also run once by the installed jq. With *every_word*, commands are
        tried with every search word on every file.
        """
        self.compare_with_installed_jq = compare_with_installed_jq
        self.every_word = every_word
        self.runner = BoundedRunner(fallback=fallback, memory=_MEMORY_BYTES)
        self.ended_commands: set[str] = set()
        """Commands that hit a limit."""
        self.fully_probed: set[tuple[object, ...]] = set()
        """Keys (`_search_key`) of commands that were tried with every search word."""
        self.mismatched_pairs: set[tuple[str, str]] = set()
        """(effect, command) pairs that do not match. Such a pair is only noted if the command has another index than
        the standard recipe."""
        self.first_trials: dict[tuple[str, str, str], tuple[_Trial, int]] = {}
        """The first file that had a command, and the command's index there, by edition, detail level and command."""
        self.compared_pairs: set[tuple[str, str]] = set()
        """(effect, command) pairs that were also run by the installed jq."""
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

        Further recipes are compiled but not run. *sample* may be the reason why recipes cannot be run; in this case,
        all of them are only compiled.
        """
        if isinstance(sample, str):
            rules = [recipe.requirement for recipe in edition.recipes]
            return Judgement(tuple(self._compiled(descriptor)), dict.fromkeys(rules, sample))
        recipes = _commands(descriptor)
        commands = dict(_parsed_commands(recipes))
        detail = level_in(edition, sample.header, descriptor.get("summary"))
        standard_commands = (
            (r, commands[r.number - 1]) for r in edition.recipes_at(detail) if r.number - 1 in commands
        )
        if not self.every_word and self.fully_probed.issuperset(
            _search_key(*recipe_and_command, edition.name, detail) for recipe_and_command in standard_commands
        ):
            sample = sample.head(FEW_RECORDS)
        key = (edition.name, detail, *_judgement_key(sample, commands, recipes))
        if key not in self._judgements:
            trial = _Trial(self, sample, edition, detail, commands, len(recipes))
            findings = list(trial.findings())
            standard_places = {recipe.number - 1 for recipe in edition.recipes_at(detail)}
            other_places = [place for place in range(len(recipes)) if place not in standard_places]
            findings += self._not_compiling(recipes, other_places, trial.until)
            self.ended_commands |= trial.ended.keys()
            self._judgements[key] = Judgement(tuple(findings), trial.undecided)
        return self._judgements[key]

    def _compiled(self, descriptor: Mapping[str, Any]) -> Iterator[Finding]:
        """Findings about recipes whose program jq cannot compile."""
        recipes = _commands(descriptor)
        yield from self._not_compiling(recipes, range(len(recipes)), time.monotonic() + PATIENCE_S)

    def _not_compiling(self, recipes: Sequence[str | None], places: Iterable[int], until: float) -> Iterator[Finding]:
        commands = dict(_parsed_commands(recipes))
        for index in (place for place in places if place in commands):
            if time.monotonic() > until:
                yield _out_of_time()
                return
            try:
                pipeline = commands[index]
                error = next(filter(None, (self._problem(call) for call in (pipeline.jq, *pipeline.more))), None)
            except EngineError:
                continue
            if error is not None:
                # A newer jq than this one may have the function.
                needs_newer_jq = "is not defined" in error
                message, expected = "jq cannot compile the command's program", "a program that jq compiles"
                where, kind = f"/jq_recipes/{index}/command", Kind.NOT_EVALUATED if needs_newer_jq else Kind.BAD_PROGRAM
                severity = "warning" if needs_newer_jq else "error"
                yield Finding("LRO-REC-13", kind, where, message, expected, error, severity=severity)

    def _problem(self, call: JqCall) -> str | None:
        """Return the error with which jq rejects a program, or None if the program compiles."""
        # Without input and without -n, jq compiles the program and runs nothing.
        program_alone = Pipeline("", 0, replace(call, null_input=False, slurp=False), ())
        key = _key_of(program_alone)
        if key not in self._problems:
            result = self.runner.run(program_alone, b"")
            error = None if compiles(result) else result.stderr.partition("\n")[0].removeprefix("jq: error: ")
            self._problems[key] = error
        return self._problems[key]


def _commands(descriptor: Mapping[str, Any]) -> list[str | None]:
    """The commands of a descriptor's recipes, by index. A command that is not a string is replaced by None."""
    values = (_member(recipe, "command") for recipe in descriptor["jq_recipes"])
    return [command if isinstance(command, str) else None for command in values]


def _parsed_commands(recipes: Sequence[str | None]) -> Iterator[tuple[int, Pipeline]]:
    for index, command in enumerate(recipes[:_MAX_RECIPES]):
        try:
            if command is not None:
                yield index, parse_command(command)
        except RecipeSyntaxError:
            continue  # reported when the descriptor alone is validated


def _key_of(pipeline: Pipeline) -> str:
    """A key for a command without its file's path. It is computed hundreds of times per file, so it is made by
    `attrgetter`, which is fast."""
    return repr((_PIPELINE_FIELDS(pipeline), *map(_CALL_FIELDS, (pipeline.jq, *pipeline.more))))


_CALL_FIELDS = attrgetter(*(f.name for f in fields(JqCall)))
_PIPELINE_FIELDS = attrgetter(*(f.name for f in fields(Pipeline) if f.name not in ("path", "stages", "jq", "more")))


def _search_key(recipe: StandardRecipe, pipeline: Pipeline, edition: str, detail: str) -> tuple[object, ...]:
    """The key that is remembered for a command that was tried with every search word."""
    return recipe.effect, _key_of(pipeline), edition, detail


def _judgement_key(sample: Sample, commands: Mapping[int, Pipeline], recipes: Sequence[object]) -> Iterator[object]:
    """Everything in a descriptor's recipes and its file on which the judgement of the recipes depends."""
    yield from (len(recipes), *((index, _key_of(pipeline)) for index, pipeline in commands.items()))
    header, _, records = sample.lines.partition(b"\n")
    yield records
    # Recipes that skip the header cannot depend on its content. Only its keys and strings matter, because `probe` takes
    # such a literal for the search text only if there is no other literal.
    skips_header = all(
        command.skip and (command.last is None or command.is_last_after) and command.without is None
        for command in commands.values()
    )
    texts = ((k, v) for k, v in sample.header.items() if isinstance(v, str) and k != "timestamp")
    yield (*sample.header, *texts) if skips_header else header


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
        self._listed_count = listed
        self._too_few = listed < len({recipe.number for recipe in self._standards})
        self._outputs: dict[str, JqRun] = {}
        self._outcomes: dict[tuple[int, int], Finding | None] = {}
        self._change = ""
        """The change of the records compared with the file, as the end of a sentence. Empty if there is no change."""
        for place, pipeline in commands.items():
            judge.first_trials.setdefault((edition.name, detail, _key_of(pipeline)), (self, place))
        judge.runner.max_output = _OUTPUT_BYTES + _OUTPUT_PER_INPUT_BYTE * len(sample.lines)

    def findings(self) -> Iterator[Finding]:
        """The findings about all standard recipes. `undecided` is complete once all findings have been yielded."""
        is_out_of_time = False
        for recipe in self._standards:
            rule = recipe.requirement
            if is_out_of_time or time.monotonic() > self.until:
                self.undecided[rule] = "not all recipes were run"
                if not is_out_of_time:
                    yield _out_of_time()
                is_out_of_time = True
                continue
            self.undecided[rule] = None
            findings = list(self._findings_for(recipe))
            paths = depends_on(recipe.effect), fails_at(recipe.effect)
            if findings and any(self._invalid_fields.intersection(path[:1]) for path in paths):
                # a wrong output may only follow from the invalid values
                findings = [f for f in findings if f.kind not in (Kind.WRONG_OUTPUT, Kind.FAILS_AS_PRINTED)]
                self.undecided[rule] = _INVALID_FIELD
            yield from findings
            if [f.kind for f in findings] == [Kind.READS_HEADER]:
                self.undecided[rule] = _DOES_NOT_SKIP_HEADER

    def _findings_for(self, recipe: StandardRecipe) -> Iterator[Finding]:
        """Findings if no command, at the recipe's own index or any other index, does what the standard recipe does.

        A program at the recipe's own index is always reported if jq cannot compile it. Otherwise, if the recipe should
        return nothing, any other command that returns nothing would look right.
        """
        place = recipe.number - 1
        own_finding: Finding | None = None
        if place in self._commands:
            own_finding = self._outcome(recipe, place)
            if own_finding is None:
                return
            if own_finding.kind in (Kind.FAILS_AS_PRINTED, Kind.BAD_LITERAL):
                yield own_finding
                return
            if not self._compiles(place):
                yield replace(own_finding, kind=Kind.BAD_PROGRAM)
                return
        possible_matches: list[Finding] = []
        for index, pipeline in self._commands.items():
            pair = (recipe.effect, _key_of(pipeline))
            if index == place or pair in self._judge.mismatched_pairs or not self._can_search(recipe, pipeline):
                continue
            other_finding = self._outcome(recipe, index)
            if other_finding is None:
                # A few records may match by chance, so the command must also match on the first file that had it.
                trial, first_place = self._judge.first_trials[(*self._edition_and_detail.values(), pair[1])]
                other_finding = trial._outcome(recipe, first_place) if trial is not self else None
            if other_finding is None:
                return
            if other_finding.severity == "error":
                self._judge.mismatched_pairs.add(pair)  # a few records of another file may match by chance
            else:
                possible_matches.append(other_finding)
        not_run = next(
            (f for f in (own_finding, *possible_matches) if f is not None and f.kind is Kind.NOT_EVALUATED), None
        )
        if not_run is not None:
            self.undecided[recipe.requirement] = not_run.sentence
            if not_run is own_finding:
                yield not_run
        elif place < self._listed_count and own_finding is None:
            self.undecided[recipe.requirement] = _NOT_UNDERSTOOD
        elif self._too_few:
            if possible_matches:
                self.undecided[recipe.requirement] = _TOO_FEW_RECIPES
            else:
                message = f"no recipe does what recipe {recipe.number} is for ({recipe.description.lower()})"
                expected, observed = f"the edition's {len(self._standards)} recipes", f"{self._listed_count} recipes"
                yield Finding(
                    recipe.requirement,
                    Kind.MISSING_RECIPE,
                    "/jq_recipes",
                    message,
                    expected,
                    observed,
                    severity="warning",
                )
            # If a recipe is missing, the recipes after it have moved up.
            if own_finding is not None and not self._does_another(recipe, place):
                yield own_finding
        elif own_finding is not None:
            yield own_finding

    @cached_property
    def _invalid_fields(self) -> frozenset[str]:
        """Fields that have, in some record, a value that the line schema does not allow."""
        errors = (error for record in self._sample.records for error in record_errors(record, self._detail))
        return frozenset(str(error.path[0]) for error in errors if error.path)

    def _can_search(self, recipe: StandardRecipe, pipeline: Pipeline) -> bool:
        """False if a recipe searches for a text, but the command cannot be rewritten to search for another text. Such a
        command may select the right records of a small file by chance."""
        word = DEFAULT_LITERAL.get(recipe.effect)
        return word is None or self._with_search_word(recipe, pipeline, word)[1] is not None

    def _does_another(self, recipe: StandardRecipe, place: int) -> bool:
        """True if the command at *place* does what a different standard recipe does. A warning counts as a match."""
        findings = (self._outcome(other, place) for other in self._standards if other.number != recipe.number)
        return any(finding is None or finding.severity == "warning" for finding in findings)

    def _compiles(self, place: int) -> bool:
        try:
            return compiles(self._run(self._commands[place], self._commands[place]))
        except EngineError:
            return True

    def _outcome(self, recipe: StandardRecipe, place: int) -> Finding | None:
        """Return the finding if the command at index *place* does not do what the standard recipe does, otherwise
        None."""
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

        Other values are only tried if a right command and a wrong command do not differ on the file's own values.
        """
        sample = self._sample.with_other_values(recipe.effect)
        if sample is None:
            return None
        trial = _Trial(
            self._judge, sample, self._edition, self._detail, {recipe.number - 1: pipeline}, self._listed_count
        )
        field = ".".join(depends_on(recipe.effect))
        trial._change = f" once the suite gives the file's records other values of .{field}"
        words = literals(recipe.effect, sample.records)
        return next(filter(None, (trial._check_output(recipe, where, pipeline, word) for word in words)), None)

    def _check_output(
        self, recipe: StandardRecipe, where: str, pipeline: Pipeline, word: str | None, run: JqRun | None = None
    ) -> Finding | None:
        """The finding if a command gives a wrong output when it searches for *word*. *run* is the run of the command.
        If *run* is None, the command is run here."""
        changed, literal = self._with_search_word(recipe, pipeline, word)
        number, agreement = recipe.number, self._agreement(recipe.number, changed, pipeline, literal, run)
        if agreement.ok:
            return None
        search = f", searching for {show(word)}" if word is not None else ""
        search += " in any letter case" if recipe.effect in CASE_INSENSITIVE_EFFECTS else ""
        if agreement.erratum is not None:
            return self._erratum(recipe, where, agreement)
        if agreement.with_header or self._header_matters(changed, pipeline):
            message = f"recipe {number} does not start reading at line 2"
            hint = "skip the header, and nothing else: tail -n +2"
            return Finding(
                "LRO-REC-12", Kind.READS_HEADER, where, message, agreement.expected, agreement.observed, hint
            )
        message = f"recipe {number} ({recipe.description.lower()}{search}) gives the wrong output{self._change}"
        message += f"; {agreement.difference}" if agreement.difference else ""
        part = f"for the first {len(self._sample.records)} records: " if self._sample.is_part else ""
        change = "with the suite's values: " if self._change else ""
        expected = f"{part}{change}{agreement.expected}"
        return Finding(recipe.requirement, Kind.WRONG_OUTPUT, where, message, expected, agreement.observed)

    def _erratum(self, recipe: StandardRecipe, where: str, agreement: Agreement) -> Finding:
        """The warning about a command that fails on this file just as the specification's own command does."""
        defect = find_erratum(recipe.number, self._sample.records, **self._edition_and_detail)
        defect_number = f" ({defect.number})" if defect is not None and defect.number else ""
        message = (
            f"recipe {recipe.number} fails on this file{self._change} because of an erratum in the specification"
            f"{defect_number}, not a fault of the server: {agreement.erratum}"
        )
        hint = "nothing has to be repaired"
        if defect is not None and defect.remedy:
            hint += f"; a recipe with `{defect.remedy}` works for such records, too"
        expected, observed = agreement.expected, agreement.observed
        kind = Kind.FAILS_AS_PRINTED
        return Finding(recipe.requirement, kind, where, message, expected, observed, hint, severity="warning")

    def _agreement(
        self, number: int, changed: Pipeline, pipeline: Pipeline, literal: str | None, run: JqRun | None
    ) -> Agreement:
        """The comparison of an output with the expected output. The output is that of *run*. If *run* is None, it is
        the output of *changed*, which is run here unless its result is known."""
        sample, key = self._sample, (number, literal, *self._edition_and_detail.values(), _key_of(changed))
        may_be_known = run is None and _key_of(pipeline) not in self.ended.keys() | self._judge.ended_commands
        if may_be_known and key in sample.agreements:
            return sample.agreements[key]
        output = self._run(changed, pipeline) if run is None else run
        agreement = agrees(number, output, sample.records, literal, header=sample.header, **self._edition_and_detail)
        if run is None and not output.problem:
            sample.agreements[key] = agreement
        return agreement

    def _check_with_installed_jq(self, recipe: StandardRecipe, where: str, pipeline: Pipeline) -> Finding | None:
        """Return the finding if the output of the installed jq is wrong. Returns None if the output is right, or if
        there is nothing to compare, for example because the installed jq is too old to compile the program."""
        pair = (recipe.effect, _key_of(pipeline))
        if not self._judge.compare_with_installed_jq or pair in self._judge.compared_pairs:
            return None
        installed = self._judge.runner.installed
        if installed is None:
            return None
        self._judge.compared_pairs.add(pair)
        word = DEFAULT_LITERAL.get(recipe.effect)
        try:
            run = installed.run(self._with_search_word(recipe, pipeline, word)[0], self._sample.lines)
        except EngineError:
            return None
        finding = self._check_output(recipe, where, pipeline, word, run) if compiles(run) else None
        if finding is not None:
            self._judge.only_installed.append(finding)
        return finding

    def _bad_literal(
        self, recipe: StandardRecipe, where: str, pipeline: Pipeline, words: Sequence[str | None]
    ) -> Finding | None:
        """The finding if jq fails because of the search text that the command contains."""
        probes = [self._with_search_word(recipe, pipeline, word) for word in words]
        changed, literal = probes[0]
        if literal is None or any(pipeline == command for command, _ in probes):
            return None  # the command searches for nothing, or was judged unchanged
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
        """True if the command skips no line or several lines, and prints something else when it reads all lines but the
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
        """Return the command rewritten to search for *word*, and the word. If the command cannot be rewritten, return
        the unchanged command and None."""
        if word is None:
            return pipeline, None
        changed = probe(pipeline, recipe.number, word, header=self._sample.header, **self._edition_and_detail)
        return (pipeline, None) if changed is None else (changed, word)

    def _run(self, changed: Pipeline, pipeline: Pipeline) -> JqRun:
        """Run *changed*, a variant of the descriptor's command *pipeline*, at most once.

        After a limit has ended one variant of a command, no other variant is run. Raises `EngineError` if no engine can
        run the program, or if a limit ended the command on another file.
        """
        command_key, key = _key_of(pipeline), _key_of(changed)
        if command_key in self.ended:
            return self.ended[command_key]
        if command_key in self._judge.ended_commands:
            raise EngineError("a limit ended the command on another file")
        if key not in self._outputs:
            self._outputs[key] = run = self._judge.runner.run(changed, self._sample.lines)
            if run.problem:
                self.ended[command_key] = run
        return self._outputs[key]
