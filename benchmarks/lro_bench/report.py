"""The report of a run: cells with intervals, cells that nobody can solve, and comparisons task by task.

A cell is the set of samples of one agent, condition, family and size.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean, median
from typing import Any

from lro_bench.agents import NULL_AGENTS
from lro_bench.conditions import conditions, pairs
from lro_bench.queries import LIBRARY_CLASSES, SCORES
from lro_bench.run import RUN, SAMPLES, expected_samples, read_run, resume_command
from lro_bench.samples import Sample, read_samples
from lro_bench.statistics import bootstrap_mean, holm, mcnemar, wilson
from lro_conformance.errors import UsageError
from lro_conformance.version import version

FORMAT = "lro-bench-report/1"
Key = tuple[str, str, str, int]
"""Agent, condition, family, size."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Reason why not even the oracle solves a cell."""

    why: str
    """The limit that the oracle exceeds (``messages``, ``context``).

    ``information`` if no tool gives what is needed.
    """
    least_turns: int | None
    """Turns that the oracle's plan takes, with all independent calls of a turn made at once."""
    least_messages: int | None
    """Number of messages that the oracle's plan takes, including the results of all calls."""
    least_context: int | None
    """Tokens of the largest request of the oracle's plan."""

    def __str__(self) -> str:
        """The reason in a few words."""
        match self.why:
            case "messages":
                if not self.least_messages or not self.least_turns:
                    return "unreachable"
                return f"unreachable: takes {self.least_messages:,} messages in {self.least_turns:,} turns"
            case "context":
                return (
                    f"unreachable: needs {self.least_context:,} tokens at once" if self.least_context else "unreachable"
                )
            case _:
                return "unreachable: no tool gives what is needed"


@dataclass(frozen=True, slots=True)
class Cell:
    """The samples of one agent, condition, family and size, as numbers. Tokens and turns are means per sample."""

    agent: str
    condition: str
    family: str
    n: int
    tasks: int
    correct: int
    interval: tuple[float, float]
    """Wilson's 95 % interval of the share of right answers."""
    total_tokens: float
    total_tokens_interval: tuple[float, float]
    """95 % interval of the mean, by the bootstrap over tasks."""
    fresh_tokens: float
    """Tokens that are billed in full where a provider caches prefixes."""
    cached_tokens: float
    output_tokens: float
    content_tokens: float
    turns: float
    tokens_until_right: float | None
    """Mean tokens of the samples with a right answer; None if there is no such sample."""
    turns_until_right: float | None
    access_ratio: float
    """Median share of the records that were read."""
    saw_all: int
    """Number of samples in which every record was seen."""
    correct_of_saw_all: int
    stops: dict[str, int]
    no_answer: int
    queries: dict[str, int]
    goal_achievement: float | None
    """Mean share of the queries that use the library of recipes. None if no sample has a query."""
    alignment: float | None
    cost: float | None
    """Mean cost of a sample in dollars. None for scripted agents, and for models whose prices are unknown."""
    unreachable: Unreachable | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two conditions compared on the same tasks."""

    agent: str
    first: str
    second: str
    family: str
    n: int
    tasks: int
    only_first: int
    only_second: int
    p: float
    """P-value of McNemar's exact test."""
    p_holm: float
    """The p-value, corrected for the number of pairs of the agent by Holm's method."""
    savings: float | None
    """Mean of 1 − tokens of the first ÷ tokens of the second, over the tasks that both got right.

    Negative if the first takes more tokens.
    """
    savings_interval: tuple[float, float] | None
    compared: int
    """Number of tasks that both got right."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that has fewer samples than it should have."""

    folder: str
    samples: int
    asked: int

    def __str__(self) -> str:
        """A sentence that says how to continue the run."""
        command = resume_command(Path(self.folder))
        return f"{self.samples:,} of {self.asked:,} samples: unfinished; {command} continues it"


@dataclass(frozen=True, slots=True)
class Report:
    """The cells and comparisons of one or several runs."""

    runs: tuple[Mapping[str, Any], ...]
    cells: tuple[Cell, ...]
    pairs: tuple[Pair, ...] = field(default=())
    unfinished: tuple[Unfinished, ...] = field(default=())

    @property
    def agents(self) -> list[str]:
        """Agents and models, in the order of their first cell."""
        return list(dict.fromkeys(cell.agent for cell in self.cells))

    @property
    def sizes(self) -> list[int]:
        """Sizes of the corpora."""
        return sorted({cell.n for cell in self.cells})

    def cell(self, agent: str, condition: str, family: str, n: int) -> Cell | None:
        """A cell; None if it was not run."""
        return next(
            (c for c in self.cells if (c.agent, c.condition, c.family, c.n) == (agent, condition, family, n)), None
        )

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON (schemas/bench-report.schema.json)."""
        return {
            "format": FORMAT,
            "suite": {"name": "lro-spec", "version": version()},
            "runs": [dict(run) for run in self.runs],
            "unfinished": [
                {**asdict(unfinished_run), "told": str(unfinished_run)} for unfinished_run in self.unfinished
            ],
            "conditions": {
                name: {"title": c.title, "source": c.source, "limits": str(c.limits), "tools": list(c.delivery.tools)}
                for name, c in conditions().items()
                if any(cell.condition == name for cell in self.cells)
            },
            "cells": [asdict(cell) for cell in self.cells],
            "pairs": [asdict(pair) for pair in self.pairs],
        }


def report_of(folders: Sequence[Path]) -> Report:
    """The report of the runs in some folders.

    Raises `UsageError` if a folder has no run, or if the runs do not fit together.
    """
    samples: list[Sample] = []
    runs: list[Mapping[str, Any]] = []
    unfinished: list[Unfinished] = []
    for folder in folders:
        try:
            run = read_run(folder / RUN)
            folder_samples = read_samples(folder / SAMPLES)
        except FileNotFoundError as problem:
            name = Path(str(problem.filename)).name
            raise UsageError(
                f"{folder}: there is no run in it ({name} is missing): lro bench run -o {shlex.quote(str(folder))}"
            ) from None
        except (ValueError, OSError) as problem:
            raise UsageError(str(problem)) from None
        for problem in _misfits(folder, run, folder_samples, runs):
            raise UsageError(problem)
        if repeated_keys := {sample.key for sample in samples} & {sample.key for sample in folder_samples}:
            raise UsageError(f"{folder}: has samples that another folder has, too, such as {min(repeated_keys)}")
        try:
            expected_count = expected_samples(run)
        except ValueError:  # another version made the run
            expected_count = len(folder_samples)
        if len(folder_samples) < expected_count:
            unfinished.append(Unfinished(str(folder), len(folder_samples), expected_count))
        samples += folder_samples
        runs.append(run)
    if not samples:
        raise UsageError(f"{folders[0]}: the run has no samples: {resume_command(folders[0])} continues it")
    return replace(make_report(samples, runs), unfinished=tuple(unfinished))


def _misfits(
    folder: Path, run: Mapping[str, Any], samples: Sequence[Sample], others: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Reasons why the samples of a folder cannot be counted: they are from another run, repeated, or on other tasks."""
    counts = Counter(sample.key for sample in samples)
    for sample in samples:
        for key, value in (("agents", sample.agent), ("conditions", sample.condition), ("sizes", sample.n)):
            if value not in run.get(key, ()):
                yield f"{folder / SAMPLES}: a sample does not belong to the run in {RUN}: {value} is none of its {key}"
        if counts[sample.key] > 1:
            yield f"{folder / SAMPLES}: has a sample twice: {', '.join(map(str, sample.key))}"
    for other in others:
        for kind in ("corpora", "families"):
            mine, theirs = run.get(kind, {}), other.get(kind, {})
            if changed := [name for name in mine if name in theirs and mine[name] != theirs[name]]:
                yield (
                    f"{folder}: its {kind} differ from those of the other runs ({changed[0]}), so nothing can be "
                    "compared"
                )


def make_report(samples: Sequence[Sample], runs: Sequence[Mapping[str, Any]]) -> Report:
    """The report of samples."""
    by_key: dict[Key, list[Sample]] = {}
    for sample in samples:
        by_key.setdefault((sample.agent, sample.condition, sample.family, sample.n), []).append(sample)
    unreachable_by_cell = {key[1:]: _unreachable(group) for key, group in by_key.items() if key[0] == "oracle"}
    cells = tuple(_cell(key, group, unreachable_by_cell.get(key[1:])) for key, group in by_key.items())
    return Report(tuple(runs), cells, tuple(_pairs(by_key)))


def _unreachable(group: Sequence[Sample]) -> Unreachable | None:
    """Reason why the oracle fails; None if it solves every task."""
    failed = [sample for sample in group if not sample.correct]
    if not failed:
        return None
    stop = failed[0].stop
    least_turns = next((s.least_turns for s in group if s.least_turns is not None), None)
    least_messages = next((s.least_messages for s in group if s.least_messages is not None), None)
    least_context = next((s.least_context for s in group if s.least_context is not None), None)
    why = stop if stop in ("messages", "context") else "information"
    return Unreachable(why, least_turns, least_messages, least_context)


def _cell(key: Key, group: Sequence[Sample], unreachable: Unreachable | None) -> Cell:
    correct_samples = [sample for sample in group if sample.correct]
    samples_with_queries = [sample for sample in group if sample.queries]
    queries = Counter[str]()
    for sample in group:
        queries.update(sample.queries)
    samples_that_saw_all = [sample for sample in group if sample.saw_all]
    costs = [sample.cost for sample in group if sample.cost is not None]
    return Cell(
        *key,
        tasks=len(group),
        correct=len(correct_samples),
        interval=wilson(len(correct_samples), len(group)),
        total_tokens=mean(s.total_tokens for s in group),
        total_tokens_interval=bootstrap_mean([float(s.total_tokens) for s in group]),
        fresh_tokens=mean(s.fresh_tokens for s in group),
        cached_tokens=mean(s.cached_tokens for s in group),
        output_tokens=mean(s.output_tokens for s in group),
        content_tokens=mean(s.content_tokens for s in group),
        turns=mean(s.turns for s in group),
        tokens_until_right=mean(s.total_tokens for s in correct_samples) if correct_samples else None,
        turns_until_right=mean(s.turns for s in correct_samples) if correct_samples else None,
        access_ratio=median(s.access_ratio for s in group),
        saw_all=len(samples_that_saw_all),
        correct_of_saw_all=sum(s.correct for s in samples_that_saw_all),
        stops=dict(sorted(Counter(s.stop for s in group).items())),
        no_answer=sum(s.answer is None for s in group),
        queries=dict(sorted(queries.items())),
        goal_achievement=mean(map(_library_share, samples_with_queries)) if samples_with_queries else None,
        alignment=sum(SCORES[kind] * count for kind, count in queries.items()) / queries.total() if queries else None,
        cost=mean(costs) if len(costs) == len(group) else None,
        unreachable=unreachable,
    )


def _library_share(sample: Sample) -> float:
    return sum(count for kind, count in sample.queries.items() if kind in LIBRARY_CLASSES) / sum(
        sample.queries.values()
    )


def _pairs(by_key: Mapping[Key, Sequence[Sample]]) -> Iterator[Pair]:
    """The comparisons of each agent that calls tools. The p-values are corrected for the number of comparisons."""
    for agent in dict.fromkeys(key[0] for key in by_key if key[0] not in NULL_AGENTS):
        compared_samples = [
            (first, second, family, n, sample_pairs)
            for first, second in pairs()
            for family, n in dict.fromkeys(key[2:] for key in by_key if key[:2] == (agent, first))
            if (sample_pairs := _paired_samples(by_key, agent, first, second, family, n))
        ]
        counts = [
            (sum(a.correct > b.correct for a, b in sample_pairs), sum(b.correct > a.correct for a, b in sample_pairs))
            for *_, sample_pairs in compared_samples
        ]
        p_values = [mcnemar(*count) for count in counts]
        for (first, second, family, n, sample_pairs), count, p_value, corrected_p in zip(
            compared_samples, counts, p_values, holm(p_values), strict=True
        ):
            task_savings = [1 - a.total_tokens / b.total_tokens for a, b in sample_pairs if a.correct and b.correct]
            yield Pair(
                agent,
                first,
                second,
                family,
                n,
                len(sample_pairs),
                *count,
                p_value,
                corrected_p,
                savings=mean(task_savings) if task_savings else None,
                savings_interval=bootstrap_mean(task_savings) if task_savings else None,
                compared=len(task_savings),
            )


def _paired_samples(
    by_key: Mapping[Key, Sequence[Sample]], agent: str, first: str, second: str, family: str, n: int
) -> list[tuple[Sample, Sample]]:
    """Pairs of samples on the same task, under the first and the second condition."""
    second_by_task = {sample.task: sample for sample in by_key.get((agent, second, family, n), ())}
    return [
        (sample, second_by_task[sample.task])
        for sample in by_key.get((agent, first, family, n), ())
        if sample.task in second_by_task
    ]
