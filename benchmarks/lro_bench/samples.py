"""Samples: one task under one condition by one agent, as plain data, and the measures that are taken of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lro_bench.corpus import corpus
from lro_bench.queries import classify

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_ANSWER = re.compile(r"^\W*ANSWER:\s*(.*?)\W*$", re.MULTILINE)
READING_TOOLS = ("bash", "lro_extract", "read_file", "read_lines", "search_file")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request to a model."""

    input_tokens: int
    """Everything that was sent, cached or not."""
    cached_tokens: int
    """The part of it that the request before had sent already."""
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
    """None if no line ``ANSWER: …`` came."""
    correct: bool
    stop: str
    """``answered``, ``messages``, ``context`` or ``error``."""
    turns: int
    """Requests to the model."""
    messages: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    content_tokens: int
    """Tokens of all tool results, each counted once."""
    records_read: int
    """Different records whose ID occurs in a tool result."""
    pages: int
    """Pages that were fetched."""
    saw_all: bool
    """True if every record occurs in a tool result."""
    queries: Mapping[str, int]
    """Queries of the file by class."""
    cost: float | None = None
    """Dollars, where Inspect knows the model's prices."""
    least_messages: int | None = None
    """Messages that the plan would need without a limit; the oracle's only."""
    least_context: int | None = None
    """Tokens of its largest request; the oracle's only."""

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
        """What makes a sample the same as another."""
        return self.agent, self.condition, self.n, self.family, self.task


@dataclass(frozen=True, slots=True)
class Exchange:
    """A tool call and its result, as scoring sees them."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


def answer_of(text: str) -> str | None:
    """The answer in a last message: the last line of the form ``ANSWER: …``."""
    found = _ANSWER.findall(text)
    return found[-1] if found else None


def is_correct(answer: str | None, expected: str) -> bool:
    """True if the answer is the expected one, apart from blanks and case."""
    return answer is not None and _plain(answer) == _plain(expected)


def _plain(text: str) -> str:
    return re.sub(r"\s*,\s*", ",", " ".join(text.split())).casefold()


def access(n: int, exchanges: Iterable[Exchange]) -> int:
    """Number of records whose ID occurs in a result."""
    there = {record["id"] for record in corpus(n).records}
    return len({id for exchange in exchanges for id in _UUID.findall(exchange.result)} & there)


def query_classes(recipes: Sequence[str], exchanges: Iterable[Exchange]) -> dict[str, int]:
    """How many queries of the file belong to each class; *recipes* are the commands of the descriptor's library."""
    counts: dict[str, int] = {}
    for exchange in exchanges:
        if exchange.tool in READING_TOOLS:
            kind = classify(exchange.tool, exchange.arguments, recipes)
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def write_samples(samples: Iterable[Sample], path: Path) -> None:
    """Write samples as JSON lines, in the order of the run."""
    lines = [json.dumps(asdict(sample), ensure_ascii=False, separators=(",", ":")) for sample in samples]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_samples(path: Path) -> list[Sample]:
    """Read samples. Raises `ValueError` with the line that is none."""
    names = {entry.name for entry in fields(Sample)}
    samples: list[Sample] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            samples.append(Sample(**{key: value for key, value in json.loads(line).items() if key in names}))
        except (ValueError, TypeError, AttributeError) as problem:
            raise ValueError(f"{path}, line {number}: not a sample ({problem})") from None
    return samples
