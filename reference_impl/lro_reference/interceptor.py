"""The heart of Large Result Offloading: a result set becomes an inline result, or a file and its descriptor.

The interceptor stands between an operation, which knows nothing of it, and the response. It serialises the records
once, estimates what they cost, and decides. When the file cannot be written the operation has still succeeded: the
result is cut to whole records that fit, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lro_reference.events import FILE_WRITTEN, WRITE_FAILED, Emit, Event, timestamp
from lro_reference.settings import Settings
from lro_reference.writer import encode, write
from lro_spec.messages import JqRecipe, OffloadHeader, OffloadResponse, OffloadSummary
from lro_spec.naming import file_name, ulid_at
from lro_spec.rendering import render
from lro_spec.tokens import script_aware_estimate

_TOP_NAMESPACES = 5


@dataclass(frozen=True, slots=True)
class ResultSet:
    """What an operation found, complete and before any budget."""

    operation: str
    detail: str
    records: Sequence[Mapping[str, Any]]
    """At the requested detail level."""
    line_schema: Mapping[str, Any]
    """JSON Schema of every record."""
    schema_version: str
    """The MIF version of the records."""
    query: str | None = None
    scores: Sequence[float] | None = None
    """One a record, where the operation ranks."""


@dataclass(frozen=True, slots=True)
class Inline:
    """The result as usual: every record, one JSON text each."""

    lines: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Offloaded:
    """The records are in a file; this goes to the assistant instead."""

    response: OffloadResponse


@dataclass(frozen=True, slots=True)
class Truncated:
    """The file could not be written: the leading records that fit the threshold, and a warning."""

    lines: Sequence[bytes]
    total: int
    """How many records there were."""
    warning: str


Outcome = Inline | Offloaded | Truncated
Estimate = Callable[[str], int]


def intercept(
    results: ResultSet,
    settings: Settings,
    emit: Emit,
    *,
    edition: str = "lro-6400",
    estimate: Estimate = script_aware_estimate,
) -> Outcome:
    """Decide what becomes of a result set (sections "Threshold Detection" and "Error Handling").

    Never raises for a file that cannot be written; ``emit`` hears of it.
    """
    lines = [encode(record) for record in results.records]
    tokens = estimate(_text(lines))
    if not settings.enabled or tokens <= settings.threshold_tokens:
        return Inline(lines)
    try:
        return Offloaded(_offload(results, lines, tokens, settings, emit, edition))
    except OSError as problem:
        return _truncate(results, lines, tokens, settings, emit, problem, estimate)


def _text(lines: Sequence[bytes]) -> str:
    # The record lines just as the file holds them, line ends included.
    return "".join(f"{line.decode()}\n" for line in lines)


def _offload(
    results: ResultSet, lines: Sequence[bytes], tokens: int, settings: Settings, emit: Emit, edition: str
) -> OffloadResponse:
    now = datetime.now(UTC)  # one moment for the name and the header: it is the file's created_at
    header = OffloadHeader(
        operation=results.operation,
        count=len(lines),
        schema_version=results.schema_version,
        timestamp=timestamp(now),
        estimated_tokens=tokens,
        detail=results.detail,
        query=results.query,
    )
    name = file_name(results.operation, edition=edition, ulid=ulid_at(now))
    path = write(settings.folder, name, [encode(header.to_dict()), *lines])
    emit(
        Event(
            FILE_WRITTEN,
            "info",
            {"path": path, "created_at": header.timestamp, "ttl_seconds": settings.ttl_seconds, "count": len(lines)},
        )
    )
    library = render(edition, path, results.detail)
    return OffloadResponse(
        summary=_summary(results, tokens),
        file_path=path,
        line_schema=results.line_schema,
        jq_recipes=tuple(library),
        guidance=_guidance(results, tokens, path, library),
    )


def _summary(results: ResultSet, tokens: int) -> OffloadSummary:
    namespaces = Counter(str(record["namespace"]) for record in results.records if record.get("namespace") is not None)
    return OffloadSummary(
        count=len(results.records),
        estimated_tokens=tokens,
        operation=results.operation,
        top_namespaces=tuple(name for name, _ in namespaces.most_common(_TOP_NAMESPACES)),
        detail=results.detail,
        score_range=(min(results.scores), max(results.scores)) if results.scores else None,
    )


def _guidance(results: ResultSet, tokens: int, path: str, library: Sequence[JqRecipe]) -> str:
    # Advice, not orders: an assistant without a shell can only use the summary, and must not be led into an error.
    content = " Content is empty at this level: ask again with detail medium or full to search it." * (
        results.detail == "light"
    )
    return (
        f"Results offloaded to a JSONL file ({len(results.records)} memories, ~{tokens} tokens saved).\n"
        f"File: {path}\n"
        f"Detail level: {results.detail}.{content}\n"
        f"With shell access, the {len(library)} jq recipes above pull out what is needed, for example:\n"
        "- browse: recipe #1\n- filter: recipe #2 (namespace) or #3 (keyword in the title)\n"
        "- analyse: recipe #8 (how many in each namespace)\n"
        "Without one, the summary above still says how many memories there are and where they belong.\n"
        "Line 1 of the file is a header with metadata; memories start at line 2. Reading the whole file is worth it\n"
        "only when every memory is needed."
    )


def _truncate(
    results: ResultSet,
    lines: Sequence[bytes],
    tokens: int,
    settings: Settings,
    emit: Emit,
    problem: OSError,
    estimate: Estimate,
) -> Truncated:
    room = settings.threshold_tokens
    kept = 0
    for line in lines:
        room -= estimate(_text([line]))  # rounded up a record, so the sum is never below the estimate of the whole
        if room < 0:
            break
        kept += 1
    reason = problem.strerror or str(problem) or type(problem).__name__
    emit(
        Event(
            WRITE_FAILED,
            "warning",
            {
                "operation": results.operation,
                "output_dir": settings.folder,
                "error": reason,
                "errno": problem.errno,
                "estimated_tokens": tokens,
                "count": len(lines),
                "returned": kept,
            },
        )
    )
    warning = (
        f"Offloading failed ({reason}: {settings.folder}), so the results are truncated: {kept} of {len(lines)} "
        f"memories are returned, which fit {settings.threshold_tokens} tokens. A smaller limit, a namespace or a "
        "lighter detail level narrows the result."
    )
    return Truncated(lines[:kept], len(lines), warning)
