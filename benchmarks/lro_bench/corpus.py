"""Corpora of memories, which have the same bytes for the same size, and 155 ± 2 estimated tokens per record.

The published corpora are not available. The records of these corpora are memories in the format MIF of the
specification, about a made-up software project. They have eight namespaces with a skewed distribution, twelve products,
each mentioned by about twelve percent of the records, a nested ordinal priority, ticket numbers with gaps, and
sentences that only one record has.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from lro_reference.writer import encode

SEED = 42
PAPER_SIZES = (50, 200, 500)
SIZES = (*PAPER_SIZES, 5000)
MEAN_TOKENS, TOLERANCE = 155, 2
"""Mean number of tokens of a record's line (characters ÷ 4), as published, and the permitted deviation."""
NAMESPACES = {
    "_semantic/knowledge": 26,
    "_semantic/decisions": 18,
    "_semantic/preferences": 8,
    "_procedural/patterns": 14,
    "_procedural/runbooks": 9,
    "_episodic/incidents": 11,
    "_episodic/sessions": 10,
    "_episodic/reviews": 4,
}
"""The namespaces, with the share of the records in each, in percent."""
PRODUCTS = (
    *("Harrier", "Lodestar", "Quillwork", "Basalt", "Tamarind", "Nightjar"),
    *("Copperline", "Meridian", "Saltbox", "Windrose", "Ironwood", "Palisade"),
)
PRODUCT_SHARE = 0.12
PRIORITIES = range(1, 6)
_CONFIDENCE_RANGE = (300, 1000)
"""Lowest and highest confidence, in thousandths."""
_GAP_SHARE = 0.08
"""Share of ticket numbers that no record has."""
_PHRASE_INTERVAL = 3
"""Every third record has the phrase of a unit."""

_SUBJECTS = (
    *("export queue", "login page", "nightly backup", "search index", "billing job", "mail gateway", "audit log"),
    *("rate limiter", "image resizer", "session store", "report builder", "webhook relay", "feature flags"),
)
_KINDS = (
    *("Decision on the", "Notes about the", "Incident in the", "Pattern for the", "Review of the", "How to run the"),
    *("Why we changed the", "Open question on the"),
)
_SENTENCES = (
    "It was moved to the second region after the load test.",
    "The timeout went from thirty seconds to ninety.",
    "Retries are capped at five, with a growing pause in between.",
    "Two people have to approve a change here.",
    "The old behaviour remains available behind a flag.",
    "Costs fell by a fifth in the month after.",
    "Nobody noticed until the weekly report was empty.",
    "The migration runs in batches of a thousand rows.",
    "A rollback takes about four minutes and loses nothing.",
    "Its owner changed twice, so ask in the channel first.",
    "The cache is warmed before traffic is let in.",
    "Alerts were too noisy and have a higher threshold now.",
    "The vendor confirmed the fault and sent a patch.",
    "We agreed to look at this again in spring.",
)
_PRODUCT_SENTENCES = ("{} depends on it.", "This also concerns {}.", "It was found while testing {}.")
_WORDS = (
    *("amber", "falcon", "copper", "willow", "harbor", "lantern", "meadow", "pepper", "quartz", "river", "saddle"),
    *("timber", "velvet", "walnut", "yonder", "zephyr", "anchor", "bramble", "cinder", "dapple"),
)
_TAGS = ("ops", "api", "data", "security", "cost", "people", "release", "ui")
_TYPES = {"_semantic": "semantic", "_procedural": "procedural", "_episodic": "episodic"}

Record = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus: records and the line of each."""

    size: int
    records: tuple[Record, ...]
    lines: tuple[bytes, ...]

    @property
    def mean_tokens(self) -> float:
        """Mean number of tokens of a record's line (characters ÷ 4)."""
        return sum(len(line.decode()) for line in self.lines) / 4 / len(self.lines)

    @property
    def digest(self) -> str:
        """SHA-256 of the lines, each with its line feed."""
        return hashlib.sha256(b"".join(line + b"\n" for line in self.lines)).hexdigest()


class Dice:
    """A random source whose results are the same in every version of Python.

    It uses only `random.random`, because Python guarantees only the results of this function.
    """

    def __init__(self, *seed: object) -> None:
        self._random = random.Random("/".join(map(str, seed)))

    def fraction(self) -> float:
        """A number from 0 up to 1."""
        return self._random.random()

    def integer(self, low: int, high: int) -> int:
        """A whole number from *low* to *high*, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.integer(0, len(choices) - 1)]

    def sample(self, choices: Sequence[T], count: int) -> list[T]:
        """*count* different choices, in random order."""
        remaining = list(choices)
        return [remaining.pop(self.integer(0, len(remaining) - 1)) for _ in range(count)]

    def weighted(self, weights: Mapping[str, int]) -> str:
        """A random key, with a probability in proportion to its weight."""
        remaining_weight = self._random.random() * sum(weights.values())
        for key, weight in weights.items():
            remaining_weight -= weight
            if remaining_weight < 0:
                return key
        return list(weights)[-1]

    def digits(self, count: int) -> str:
        """*count* hexadecimal digits."""
        return "".join("0123456789abcdef"[self.integer(0, 15)] for _ in range(count))

    def uuid(self) -> str:
        """A UUID of version 4."""
        variant = f"{'89ab'[self.integer(0, 3)]}{self.digits(3)}"
        return f"{self.digits(8)}-{self.digits(4)}-4{self.digits(3)}-{variant}-{self.digits(12)}"


@cache
def corpus(size: int) -> Corpus:
    """The corpus of *size* records. Raises `AssertionError` if the mean size of a record is not the published size."""
    dice = Dice(SEED, "corpus", size)
    records: list[Record] = []
    ticket, carry = 1000, 0.0
    for number in range(size):
        ticket += 1
        while dice.fraction() < _GAP_SHARE:
            ticket += 1
        target = 4 * MEAN_TOKENS * (0.75 + 0.5 * dice.fraction()) + carry
        record = _record(dice, number, ticket, target)
        carry = target - len(encode(record).decode())  # the next record makes up for the difference
        records.append(record)
    result = Corpus(size, tuple(records), tuple(map(encode, records)))
    assert abs(result.mean_tokens - MEAN_TOKENS) <= TOLERANCE, f"{result.mean_tokens} tokens a record at n = {size}"
    return result


def _record(dice: Dice, number: int, ticket: int, target: float) -> dict[str, Any]:
    namespace = dice.weighted(NAMESPACES)
    created = (
        f"2025-{dice.integer(1, 12):02}-{dice.integer(1, 28):02}T{dice.integer(0, 23):02}:{dice.integer(0, 59):02}:00Z"
    )
    subject = dice.pick(_SUBJECTS)
    parts = [dice.pick(_PRODUCT_SENTENCES).format(name) for name in PRODUCTS if dice.fraction() < PRODUCT_SHARE]
    if number % _PHRASE_INTERVAL == 0:
        parts.append(f"Unit U-{1000 + number} opens with the phrase {' '.join(dice.sample(_WORDS, 3))}.")
    record: dict[str, Any] = {
        "id": dice.uuid(),
        "memory_type": _TYPES[namespace.partition("/")[0]],
        "namespace": namespace,
        "title": f"{dice.pick(_KINDS)} {subject}",
        "content": "",
        "tags": sorted(dice.sample(_TAGS, dice.integer(1, 3))),
        "status": "archived" if dice.fraction() < 0.2 else "active",
        "created": created,
        "modified": created,
        "provenance": {"confidence": dice.integer(*_CONFIDENCE_RANGE) / 1000, "source_type": "conversation"},
        "extensions": {"priority": dice.pick(PRIORITIES), "ticket": ticket},
    }
    spare_characters = target - len(encode(record).decode()) - sum(len(part) + 1 for part in parts)
    while spare_characters > 30:
        sentence = dice.pick(_SENTENCES)
        parts.insert(dice.integer(0, len(parts)), sentence)
        spare_characters -= len(sentence) + 1
    record["content"] = " ".join(parts)
    return record
