"""The core of Large Result Offloading: a result set becomes an inline result, or a file and its descriptor.

The interceptor stands between an operation, which knows nothing of it, and the response. It serialises the records
once, estimates their tokens, and decides whether to offload them. If the file cannot be written, the operation has
still succeeded. Its result is then cut to the whole records that fit, and has a warning that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice

from lro_reference.events import FILE_WRITTEN, WRITE_FAILED, Emit, Event, timestamp
from lro_reference.guide import MemoryGuide
from lro_reference.results import BlockLines, Guide, Inline, Lines, Offloaded, Outcome, ResultSet, Truncated
from lro_reference.settings import Settings
from lro_reference.writer import encode, write
from lro_spec.filenames import file_name, ulid_at
from lro_spec.messages import OffloadHeader, OffloadResponse, OffloadSummary
from lro_spec.tokens import characters_in_utf8, script_aware_estimate, tokens_of_counts

__all__ = ["Inline", "Offloaded", "Outcome", "ResultSet", "Truncated", "intercept"]

Estimate = Callable[[str], int]


def intercept(
    results: ResultSet,
    settings: Settings,
    emit: Emit,
    *,
    edition: str = "lro-6400",
    estimate: Estimate = script_aware_estimate,
) -> Outcome:
    """Return a result set inline or offload it (sections "Threshold Detection" and "Error Handling").

    Never raises for a file that cannot be written: the result is truncated instead, and ``emit`` receives an event.
    """
    lines = [encode(record) for record in results.records] if results.lines is None else results.lines
    blocks = lines.blocks if isinstance(lines, BlockLines) else lines.__iter__
    if results.tokens is None and not isinstance(lines, BlockLines):
        blocks = partial(iter, [b"\n".join(lines)] if len(lines) else [])  # estimated and written as one block
    tokens = _estimate_blocks(blocks(), estimate) if results.tokens is None else results.tokens
    if not settings.enabled or tokens <= settings.threshold_tokens:
        return Inline(lines)
    try:
        return Offloaded(_offload(results, lines, blocks(), tokens, settings, emit, edition))
    except OSError as problem:
        return _truncate(results, lines, tokens, settings, emit, edition, problem, estimate)


def _estimate_blocks(blocks: Iterable[bytes], estimate: Estimate) -> int:
    """Estimated tokens of record lines as the file holds them, line ends included."""
    if estimate is not script_aware_estimate:
        return estimate("".join(block.decode() + "\n" for block in blocks))
    characters = wide = 0
    for block in blocks:  # counted in the bytes, so that they need not be decoded
        of_block, wide_of_block = characters_in_utf8(block)
        characters += of_block + 1
        wide += wide_of_block
    return tokens_of_counts(characters, wide)


def _offload(
    results: ResultSet,
    lines: Lines,
    blocks: Iterable[bytes],
    tokens: int,
    settings: Settings,
    emit: Emit,
    edition: str,
) -> OffloadResponse:
    now = datetime.now(UTC)  # the name and the header have the same time, the file's created_at
    header = OffloadHeader(
        operation=results.operation,
        count=len(lines),
        schema_version=results.schema_version,
        timestamp=timestamp(now),
        estimated_tokens=tokens,
        detail=results.detail,
        query=results.query,
    )
    extra = {} if results.extra is None else {"extra": results.extra}
    name = file_name(results.operation, edition=edition, ulid=ulid_at(now))
    lines_of_file = chain([encode({**header.to_dict(), **extra})], blocks)
    path = write(settings.folder, name, lines_of_file, results.on_chunk)
    emit(
        Event(
            FILE_WRITTEN,
            "info",
            {"path": path, "created_at": header.timestamp, "ttl_seconds": settings.ttl_seconds, "count": len(lines)},
        )
    )
    guide = _guide_for(results, edition)
    recipes = tuple(guide.recipes(path))
    return OffloadResponse(
        summary=OffloadSummary(
            count=len(lines),
            estimated_tokens=tokens,
            operation=results.operation,
            top_namespaces=guide.top_values,
            detail=results.detail,
            score_range=(min(results.scores), max(results.scores)) if results.scores else None,
        ),
        file_path=path,
        line_schema=results.line_schema,
        jq_recipes=recipes,
        guidance=guide.guidance(path, tokens, recipes),
    )


def _guide_for(results: ResultSet, edition: str) -> Guide:
    return results.guide or MemoryGuide(results.records, results.detail, edition)


def _truncate(
    results: ResultSet,
    lines: Lines,
    tokens: int,
    settings: Settings,
    emit: Emit,
    edition: str,
    problem: OSError,
    estimate: Estimate,
) -> Truncated:
    room = settings.threshold_tokens
    returned = 0
    for line in lines:
        # Rounded up for each record, so the sum is never below the estimate of all of them together.
        room -= _estimate_blocks([line], estimate)
        if room < 0:
            break
        returned += 1
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
                "returned": returned,
            },
        )
    )
    guide = _guide_for(results, edition)
    warning = (
        f"Offloading failed ({reason}: {settings.folder}), so the results are truncated: {returned} of {len(lines)} "
        f"{guide.noun} are returned, which fit {settings.threshold_tokens} tokens. {guide.advice_to_narrow}"
    )
    return Truncated(list(islice(lines, returned)), len(lines), warning)
