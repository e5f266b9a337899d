"""A descriptor's summary against its file (section "Inline Response Format")."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import filterfalse
from typing import Any, cast

from lro_spec.display import shown
from lro_spec.editions import Edition
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.values import whole_number
from lro_spec.tokens import honest_estimates
from lro_spec.validation.asked import Asked
from lro_spec.validation.header import not_as_asked

TOP = 5
"""Largest number of namespaces in a summary."""

_MOST_NAMESPACES = 20_000
_SCORE_TOLERANCE = 0.01


@dataclass(slots=True)
class Range:
    """The lowest and the highest of some numbers."""

    low: float | None = None
    high: float | None = None

    def add(self, value: object) -> None:
        """Adds a number; ignores anything else."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)

    def is_about(self, low: float, high: float) -> bool:
        """True if the range goes from *low* to *high*, to within a hundredth."""
        if self.low is None or self.high is None:
            return False
        return abs(self.low - low) <= _SCORE_TOLERANCE and abs(self.high - high) <= _SCORE_TOLERANCE


@dataclass(slots=True)
class Facts:
    """Facts for the comparison with a summary, gathered while the file is read."""

    scored: bool = False
    """True if scores are gathered, which costs time."""
    namespaces: Counter[object] | None = field(default_factory=Counter[object])
    """Number of records by the value of their namespace; None if there are too many values to count."""
    scores: Range = field(default_factory=Range)
    confidences: Range = field(default_factory=Range)
    characters: int = 0
    """Number of characters of all record lines."""
    wide: int = 0
    """Upper bound of the number of characters of wide scripts."""
    escapes: int = 0
    """Upper bound of the number of escapes of characters by number."""

    def take(self, records: list[dict[str, Any]], block: Block) -> None:
        """Adds the records of a block."""
        data = b"".join(block.lines)
        others = b"".join(filterfalse(bytes.isascii, block.lines))
        more = len(others) - len(others.decode("utf-8", "replace"))
        self.characters += len(data) - more
        self.wide += more
        if b"\\" in data:  # rare, and counting takes twenty times as long as searching
            self.escapes += data.count(b"\\")
        if self.namespaces is not None:
            seen = [record.get("namespace") for record in records]
            try:
                self.namespaces.update(seen)
            except TypeError:  # one of them is an unhashable value
                self.namespaces.update(n for n in seen if isinstance(n, str))
            if len(self.namespaces) > _MOST_NAMESPACES:
                self.namespaces = None
        if self.scored:
            for record in records:
                self.scores.add(record.get("score"))
                provenance = record.get("provenance")
                if isinstance(provenance, dict):
                    self.confidences.add(cast("dict[str, Any]", provenance).get("confidence"))


def summary_against_file(
    descriptor: Mapping[str, Any],
    header: Mapping[str, Any],
    facts: Facts,
    records: int | None,
    edition: Edition,
    *,
    wrong: Collection[str] = (),
    asked: Asked | None = None,
) -> Iterator[Finding]:
    """Contradictions between the summary and the file, or the call if that is known (*asked*).

    *records* is None if the lines cannot be counted. Skips fields that are *wrong* (reported already).
    """
    summary: dict[str, Any] = {k: v for k, v in descriptor["summary"].items() if k not in wrong}
    if records is not None and "count" in summary and summary["count"] != records:
        expected, hint = f"{records}, the number of record lines", "count what is written, after filtering and capping"
        yield _finding("LRO-DESC-03", "count", "count is not that of the file", expected, summary["count"], hint)
    for name, rule in (("operation", "LRO-DESC-05"), ("detail", "LRO-DESC-08")):
        if asked is not None:
            wanted = asked.operation if name == "operation" else asked.detail
            yield from (replace(f, pointer=f"/summary/{name}") for f in not_as_asked(summary, name, rule, wanted))
            continue
        said = header.get(name)
        if isinstance(said, str) and name in summary and said != summary[name]:
            hint = "fill header and summary from the same variable"
            message = f"summary and header do not agree on {name}"
            yield _finding(rule, name, message, f"{shown(said)}, as in the header", summary[name], hint)
    if "estimated_tokens" in summary:
        yield from _estimate(descriptor, header)
    if facts.namespaces is not None and records is not None and "top_namespaces" in summary:
        names: list[str] = summary["top_namespaces"]
        if edition.top_namespaces is None:
            names = list(distribution(names) or ())
        # An empty name may be a namespace, or mean that there is none.
        seen = facts.namespaces.items()
        counts = Counter({name: n for name, n in seen if isinstance(name, str) and (name or name in names)})
        comparable = counts or not records  # records of level light have no namespaces
        problem = wrong_namespaces(names, counts, edition.top_namespaces or len(counts)) if comparable else None
        if problem is None and comparable and edition.top_namespaces is None:
            problem = _miscounted(summary["top_namespaces"], counts)
        if problem is not None:
            top = ", ".join(f"{name} ({n})" for name, n in counts.most_common(TOP + 1))
            expected = f"the most frequent of the file's namespaces, at most {TOP}: {top or 'there are none'}"
            message = f"top_namespaces are not those of the file: {problem}"
            yield _finding("LRO-DESC-06", "top_namespaces", message, expected, summary["top_namespaces"])
    yield from _scores(summary, facts, empty=facts.namespaces is not None and records == 0)


def estimate_of_header(header: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    """The finding if a header's estimate is not honest for the lines of the file."""
    said = whole_number(header.get("estimated_tokens"))
    if said is None:
        return
    narrow = max(0, facts.characters - facts.wide - 6 * facts.escapes)
    low, _ = honest_estimates(0, 0, facts.characters - 5 * facts.escapes)
    _, high = honest_estimates(facts.wide, facts.escapes, narrow)
    if not low <= said <= high:
        yield Finding(
            "LRO-THR-02",
            Kind.CONTRADICTION,
            "/estimated_tokens",
            "the estimate does not fit the record lines",
            f"{low} to {high}, about a quarter of their {facts.characters} characters",
            f"{said}",
            "estimate from the lines as they are written",
            # injected memories may have been cut after the estimate was made
            severity="warning" if header.get("operation") == "inject" else "error",
        )


def distribution(said: object) -> dict[str, int | None] | None:
    """Namespaces with their counts (None: no count), from a list of names or objects, or from an object of counts.

    None for anything else, and if a namespace is repeated.
    """
    if isinstance(said, dict):
        return {str(k): v for k, v in cast("dict[str, Any]", said).items()}
    if not isinstance(said, list):
        return None
    found: dict[str, int | None] = {}
    for entry in cast("list[Any]", said):
        member = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"namespace": entry}
        name = member.get("namespace", member.get("name"))
        if not isinstance(name, str) or name in found:
            return None
        found[name] = member.get("count")
    return found


def wrong_namespaces(said: list[str], counts: Counter[str], most: int = TOP) -> str | None:
    """The problem with a list of top namespaces, which may have *most* entries; None if it is right."""
    if len(said) > most:
        return f"{len(said)} of them"
    if len(set(said)) < len(said):
        return "one is repeated"
    if counts and not said:
        return "none"
    strangers = [n for n in said if n not in counts]
    if strangers:
        return f"{shown(strangers[0])} is not in the file"
    least = min((counts[n] for n in said), default=0)
    better = [n for n, c in counts.items() if c > least and n not in said]
    return f"{shown(better[0])} is more frequent than one that is listed" if better else None


def _miscounted(said: object, counts: Mapping[str, int]) -> str | None:
    """The first count of a distribution that is wrong."""
    for name, count in (distribution(said) or {}).items():
        if count is not None and count != counts.get(name):
            return f"{name} is counted as {shown(count)}, not {counts.get(name, 0)}"
    return None


def _estimate(descriptor: Mapping[str, Any], header: Mapping[str, Any]) -> Iterator[Finding]:
    whole, said = whole_number(header.get("estimated_tokens")), descriptor["summary"]["estimated_tokens"]
    if whole is None:
        return
    low = max(0, whole - _length(descriptor, whole) // 2 - 64)
    if not low <= said <= whole:
        expected = f"{whole}, as in the header, or that less the descriptor's own cost (at least {low})"
        yield _finding("LRO-DESC-04", "estimated_tokens", "the estimate is not that of the file", expected, said)


def _length(descriptor: Mapping[str, Any], whole: int) -> int:
    """Number of characters of a descriptor; large enough for any estimate if it is not JSON."""
    try:
        return len(json.dumps(descriptor, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return 2 * whole


def _scores(summary: Mapping[str, Any], facts: Facts, empty: bool) -> Iterator[Finding]:
    said, scores = summary.get("score_range"), facts.scores
    if said is None:
        return
    if empty and any(said):  # two zeros may mean that there are no scores
        expected = "null, as there are no records"
        yield _finding("LRO-DESC-07", "score_range", "score_range is not that of the file", expected, said)
    if scores.low is None:
        return
    if not (scores.is_about(*said) or facts.confidences.is_about(*said)):
        expected = f"[{scores.low}, {scores.high}], the scores in the file"
        yield _finding("LRO-DESC-07", "score_range", "score_range is not that of the file", expected, said)


def _finding(rule: str, name: str, message: str, expected: str, observed: object, hint: str = "") -> Finding:
    return Finding(rule, Kind.CONTRADICTION, f"/summary/{name}", message, expected, shown(observed), hint)
