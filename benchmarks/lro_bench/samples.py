"""Samples (one task under one condition by one agent) as plain data, with the measures of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from lro_bench.corpus import corpus
from lro_bench.queries import SCORES, classify
from lro_bench.tasks import Task
from lro_conformance.report.atomic import write_text

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ANSWER = re.compile(r"^\W*ANSWER:\s*(.*?)\W*$", re.MULTILINE)
READING_TOOLS = ("bash", "lro_extract", "read_file", "read_lines", "search_file")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request to a model."""

    input_tokens: int
    """Everything that was sent, cached or not."""
    cached_tokens: int
    """Tokens of the input that were sent in the previous request already."""
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample and its measures."""

    condition: str
    family: str
    n: int
    task: str
    agent: str
    """Name of a scripted agent or of a model."""
    expected: str
    answer: str | None
    """None if the last message has no line ``ANSWER: …``."""
    correct: bool
    stop: str
    """``answered``, or the limit that ended the conversation: ``messages``, ``context``, or a limit of Inspect."""
    turns: int
    """Number of requests to the model."""
    messages: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    content_tokens: int
    """Tokens of all tool results, each counted once."""
    records_read: int
    """Number of records whose ID occurs in a tool result."""
    pages: int
    """Number of pages that were fetched."""
    saw_all: bool
    """True if every record occurs in a tool result."""
    queries: Mapping[str, int]
    """Number of queries of the file, by class."""
    cost: float | None = None
    """Cost in dollars. None if Inspect does not know the prices of the model."""
    least_turns: int | None = None
    """Number of requests that the plan would need without a limit.

    Only the sample of the oracle on the first task of a family has this value and the next two values.
    """
    least_messages: int | None = None
    """Number of messages that the plan would need without a limit."""
    least_context: int | None = None
    """Tokens of the largest request of the plan, without a limit."""

    @property
    def total_tokens(self) -> int:
        """Input and output tokens of all requests, as providers report them."""
        return self.input_tokens + self.output_tokens

    @property
    def fresh_tokens(self) -> int:
        """Tokens that are billed in full where a provider caches prefixes."""
        return self.total_tokens - self.cached_tokens

    @property
    def access_ratio(self) -> float:
        """Share of the records that were read."""
        return self.records_read / self.n

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        """Key that is the same in two runs of the same sample."""
        return self.agent, self.condition, self.n, self.family, self.task


def sample_of(
    condition: str, task: Task, agent: str, answer: str | None, exchanges: Sequence[Exchange], recipes: Sequence[str],
    **figures: Any,
) -> Sample:  # fmt: skip
    """The sample of a conversation, scored by its answer and its tool calls. *figures* has all other fields."""
    records_read = count_records_read(task.n, exchanges)
    return Sample(
        condition=condition,
        family=task.family,
        n=task.n,
        task=task.id,
        agent=agent,
        expected=task.answer,
        answer=answer,
        correct=is_correct(answer, task.answer),
        calls=len(exchanges),
        records_read=records_read,
        pages=sum(exchange.tool == "list_memories" for exchange in exchanges),
        saw_all=records_read == task.n,
        queries=query_classes(recipes, exchanges),
        **figures,
    )


@dataclass(frozen=True, slots=True)
class Exchange:
    """A tool call and its result, as used for scoring."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


def answer_of(text: str) -> str | None:
    """The answer in a last message: the last line of the form ``ANSWER: …``."""
    answers = _ANSWER.findall(text)
    return answers[-1] if answers else None


def is_correct(answer: str | None, expected: str) -> bool:
    """True if the answer is the expected one, apart from blanks and case."""
    return answer is not None and _plain(answer) == _plain(expected)


def _plain(text: str) -> str:
    return re.sub(r"\s*,\s*", ",", " ".join(text.split())).casefold()


def count_records_read(n: int, exchanges: Iterable[Exchange]) -> int:
    """Number of records whose ID occurs in a result."""
    known_ids = {record["id"] for record in corpus(n).records}
    return len({id for exchange in exchanges for id in _UUID.findall(exchange.result)} & known_ids)


def query_classes(recipes: Sequence[str], exchanges: Iterable[Exchange]) -> dict[str, int]:
    """Number of queries of the file in each class; *recipes* are the commands of the descriptor's library."""
    counts: dict[str, int] = {}
    for exchange in exchanges:
        if exchange.tool in READING_TOOLS:
            kind = classify(exchange.tool, exchange.arguments, recipes)
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def lines_of(samples: Iterable[Sample]) -> str:
    """Samples as JSON lines, in ASCII because a model's answer may contain any character."""
    return "".join(f"{json.dumps(asdict(sample), separators=(',', ':'))}\n" for sample in samples)


def write_samples(samples: Iterable[Sample], path: Path) -> None:
    """Write samples in the given order. If the process is killed meanwhile, the old file remains."""
    write_text(lines_of(samples), path)


def read_samples(path: Path) -> list[Sample]:
    """Read samples. An unfinished last line, which a killed run may have left, is ignored.

    Raises `ValueError`, whose message has the path and the line, for a line that is not a sample.
    """
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    samples: list[Sample] = []
    for number, line in enumerate(lines, 1):
        try:
            samples.append(_sample_from(json.loads(line)))
        except (ValueError, TypeError, AttributeError, RecursionError) as problem:
            raise ValueError(f"{path}, line {number}: not a sample ({problem})") from None
    return samples


def _sample_from(members: Any) -> Sample:
    """A sample from the values of a file. Raises `TypeError` and `ValueError` for values that no run writes."""
    hints = get_type_hints(Sample)
    if not isinstance(members, Mapping):
        raise TypeError("expected an object")
    if missing := [
        sample_field.name
        for sample_field in fields(Sample)
        if sample_field.default is MISSING and sample_field.name not in members
    ]:
        raise ValueError(
            f"it lacks {', '.join(missing[:3])}" + (f" and {len(missing) - 3} more" if missing[3:] else "")
        )
    sample = Sample(**{name: value for name, value in cast("Mapping[str, Any]", members).items() if name in hints})
    for name, hint in hints.items():
        kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        if not isinstance(getattr(sample, name), tuple(get_origin(kind) or kind for kind in kinds)):
            raise TypeError(f"{name}: unexpected {getattr(sample, name)!r}")
    if sample.n < 1 or not set(sample.queries) <= set(SCORES):
        raise ValueError("n or queries have an unexpected value")
    if sample.correct != is_correct(sample.answer, sample.expected):
        raise ValueError(f"correct is {sample.correct}, but got the answer {sample.answer!r} for {sample.expected!r}")
    return sample
