"""Comparison of a descriptor's summary with its file (section "Inline Response Format")."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import filterfalse
from typing import Any, cast

from lro_spec.display import show
from lro_spec.editions import Edition
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.values import whole_number
from lro_spec.tokens import estimate_limits
from lro_spec.validation.header import request_contradictions
from lro_spec.validation.request import Request
from lro_spec.validation.state import RecordCount

TOP = 5
"""Largest number of namespaces in a summary, in the editions that have a maximum."""

_MAX_NAMESPACES = 20_000
"""If there are more different namespaces than this, they are no longer counted."""
_SCORE_TOLERANCE = 0.01


@dataclass(slots=True)
class Range:
    """The lowest and the highest of some numbers."""

    low: float | None = None
    high: float | None = None

    def add(self, value: object) -> None:
        """Add a number; ignore anything else."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)

    def is_about(self, low: float, high: float) -> bool:
        """True if the range is from *low* to *high*, to within a hundredth."""
        if self.low is None or self.high is None:
            return False
        return abs(self.low - low) <= _SCORE_TOLERANCE and abs(self.high - high) <= _SCORE_TOLERANCE


@dataclass(slots=True)
class Facts:
    """Facts for the comparison with a summary, gathered while the file is read."""

    scored: bool = False
    """True if scores are collected, which costs time."""
    namespaces: Counter[object] | None = field(default_factory=Counter[object])
    """Number of records by the value of their namespace. None if there are too many values to count."""
    scores: Range = field(default_factory=Range)
    confidences: Range = field(default_factory=Range)
    characters: int = 0
    """Number of characters of all record lines, without line ends."""
    wide_characters: int = 0
    """Upper bound for the number of wide characters (`lro_spec.tokens`)."""
    escapes: int = 0
    """Upper bound for the number of ``\\u`` escapes."""

    def take(self, records: list[dict[str, Any]], block: Block) -> None:
        """Add the records of a block."""
        data = b"".join(block.lines)
        non_ascii = b"".join(filterfalse(bytes.isascii, block.lines))
        continuation = len(non_ascii) - len(non_ascii.decode("utf-8", "replace"))
        self.characters += len(data) - continuation
        self.wide_characters += continuation
        if b"\\" in data:  # escapes are rare, and counting takes twenty times as long as searching
            self.escapes += data.count(b"\\")
        if self.namespaces is not None:
            namespaces = [record.get("namespace") for record in records]
            try:
                counted = Counter[object](namespaces)
            except TypeError:  # one of the values is not hashable
                counted = Counter[object](n for n in namespaces if isinstance(n, str))
            self.namespaces.update(counted)
            if len(self.namespaces) > _MAX_NAMESPACES:
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
    count: RecordCount,
    edition: Edition,
    *,
    wrong: Collection[str] = (),
    request: Request | None = None,
) -> Iterator[Finding]:
    """Contradictions between the summary and the file.

    If the *request* is known, the operation and the detail level are compared with the request, not with the header.
    Namespaces are compared only if *count* is a single number. Fields in *wrong* are skipped, because they are already
    reported.
    """
    summary: dict[str, Any] = {k: v for k, v in descriptor["summary"].items() if k not in wrong}
    records = count.exact
    if "count" in summary and not count.admits(summary["count"]):
        hint = "count what is written, after filtering and capping"
        yield _finding("LRO-DESC-03", "count", "count does not match the file", f"{count}", summary["count"], hint)
    for name, rule in (("operation", "LRO-DESC-05"), ("detail", "LRO-DESC-08")):
        if request is not None:
            wanted = request.operation if name == "operation" else request.detail
            yield from (
                replace(f, pointer=f"/summary/{name}") for f in request_contradictions(summary, name, rule, wanted)
            )
            continue
        stated = header.get(name)
        if isinstance(stated, str) and name in summary and stated != summary[name]:
            hint = "fill header and summary from the same variable"
            message = f"summary and header do not agree on {name}"
            observed = f"{show(summary[name])} in the summary, {show(stated)} in the header"
            yield _contradiction(rule, name, message, "the same in both", observed, hint)
    if "estimated_tokens" in summary:
        yield from _estimate(descriptor, header)
    if facts.namespaces is not None and records is not None and "top_namespaces" in summary:
        names: list[str] = summary["top_namespaces"]
        if edition.top_namespaces is None:
            names = list(distribution(names) or ())
        # An empty name may be a namespace, or may mean that a record has no namespace.
        namespace_counts = facts.namespaces.items()
        counts = Counter({name: n for name, n in namespace_counts if isinstance(name, str) and (name or name in names)})
        comparable = counts or not records  # records at the detail level light may have no namespaces
        problem = wrong_namespaces(names, counts, edition.top_namespaces or len(counts)) if comparable else None
        if problem is None and comparable and edition.top_namespaces is None:
            problem = _miscounted(summary["top_namespaces"], counts)
        if problem is not None:
            most_frequent = ", ".join(f"{name} ({n})" for name, n in counts.most_common(TOP + 1))
            which = "the" if edition.top_namespaces is None else f"at most {edition.top_namespaces} of the"
            expected = f"{which} file's most frequent namespaces: {most_frequent or 'there are none'}"
            message = f"top_namespaces do not match the file: {problem}"
            yield _finding("LRO-DESC-06", "top_namespaces", message, expected, summary["top_namespaces"])
    yield from _scores(summary, facts, empty=facts.namespaces is not None and records == 0)


def estimate_of_header(header: Mapping[str, Any], facts: Facts) -> Iterator[Finding]:
    """Finding about a header's estimate that does not fit the lines of the file."""
    stated = whole_number(header.get("estimated_tokens"))
    if stated is None:
        return
    narrow = max(0, facts.characters - facts.wide_characters - 6 * facts.escapes)
    low, _ = estimate_limits(0, 0, facts.characters - 5 * facts.escapes)
    _, high = estimate_limits(facts.wide_characters, facts.escapes, narrow)
    if not low <= stated <= high:
        yield Finding(
            "LRO-THR-02",
            Kind.CONTRADICTION,
            "/estimated_tokens",
            "the estimate does not fit the record lines",
            f"{low} to {high}, about a quarter of their {facts.characters} characters",
            f"{stated}",
            "estimate the lines as they are written",
            # injected memories may have been cut after they were estimated
            severity="warning" if header.get("operation") == "inject" else "error",
        )


def distribution(stated: object) -> dict[str, int | None] | None:
    """Namespaces with their counts, as *stated* in one of several forms.

    *stated* is an object with a count for each namespace, or a list. An entry of the list is a name, or an object with
    a name and perhaps a count. The result has None for a namespace without a count. Returns None for any other value,
    and if a namespace is repeated.
    """
    if isinstance(stated, dict):
        return {str(k): v for k, v in cast("dict[str, Any]", stated).items()}
    if not isinstance(stated, list):
        return None
    counts: dict[str, int | None] = {}
    for entry in cast("list[Any]", stated):
        member = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"namespace": entry}
        name = member.get("namespace", member.get("name"))
        if not isinstance(name, str) or name in counts:
            return None
        counts[name] = member.get("count")
    return counts


def wrong_namespaces(stated: list[str], counts: Counter[str], max_entries: int = TOP) -> str | None:
    """Return the problem with a list of top namespaces, or None if the list is right. It may have *max_entries*
    entries."""
    if len(stated) > max_entries:
        return f"{len(stated)} are listed"
    if len(set(stated)) < len(stated):
        return "a namespace is listed twice"
    if counts and not stated:
        return "the list is empty"
    unknown = [n for n in stated if n not in counts]
    if unknown:
        return f"{show(unknown[0])} is not in the file"
    lowest_count = min((counts[n] for n in stated), default=0)
    more_frequent = [n for n, c in counts.items() if c > lowest_count and n not in stated]
    return f"{show(more_frequent[0])} is more frequent than one that is listed" if more_frequent else None


def _miscounted(stated: object, counts: Mapping[str, int]) -> str | None:
    """The first wrong count in a distribution."""
    for name, count in (distribution(stated) or {}).items():
        if count is not None and count != counts.get(name):
            return f"{name} is counted as {show(count)}, not {counts.get(name, 0)}"
    return None


def _estimate(descriptor: Mapping[str, Any], header: Mapping[str, Any]) -> Iterator[Finding]:
    in_header, stated = whole_number(header.get("estimated_tokens")), descriptor["summary"]["estimated_tokens"]
    if in_header is None:
        return
    low = max(0, in_header - _length(descriptor, in_header) // 2 - 64)
    if not low <= stated <= in_header:
        message = "summary and header do not agree on estimated_tokens"
        expected = f"the same in both; the summary's may be less by the descriptor's own cost, but at least {low}"
        observed = f"{stated} in the summary, {in_header} in the header"
        yield _contradiction("LRO-DESC-04", "estimated_tokens", message, expected, observed)


def _length(descriptor: Mapping[str, Any], tokens: int) -> int:
    """Number of characters of a descriptor.

    If the descriptor cannot be written as JSON, returns twice *tokens*, so that `_estimate` accepts any estimate from 0
    to *tokens*.
    """
    try:
        return len(json.dumps(descriptor, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return 2 * tokens


def _scores(summary: Mapping[str, Any], facts: Facts, empty: bool) -> Iterator[Finding]:
    stated, scores = summary.get("score_range"), facts.scores
    if stated is None:
        return
    if empty and any(stated):  # [0, 0] may mean that there are no scores
        expected = "null, as there are no records"
        yield _finding("LRO-DESC-07", "score_range", "score_range does not match the file", expected, stated)
    if scores.low is None:
        return
    if not (scores.is_about(*stated) or facts.confidences.is_about(*stated)):
        expected = f"[{scores.low}, {scores.high}], the scores in the file"
        yield _finding("LRO-DESC-07", "score_range", "score_range does not match the file", expected, stated)


def _finding(rule: str, name: str, message: str, expected: str, observed: object, hint: str = "") -> Finding:
    return _contradiction(rule, name, message, expected, show(observed), hint)


def _contradiction(rule: str, name: str, message: str, expected: str, observed: str, hint: str = "") -> Finding:
    return Finding(rule, Kind.CONTRADICTION, f"/summary/{name}", message, expected, observed, hint)
