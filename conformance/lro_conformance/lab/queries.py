"""Queries that find memories. If the query of an operation finds too little, it is replaced by a better query."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.claims import size_of
from lro_conformance.capture.records import MAX_MESSAGE_CHARACTERS, common_word, show
from lro_conformance.capture.warnings import write_failure
from lro_spec.tokens import MIN_FACTOR

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench

FALLBACK_QUERIES = ("*", "memory", "", "e", "a")
"""Queries that are tried if the query of an operation finds too little: queries that find everything in many servers,
and words and letters that occur in most memories."""

MIN_IMPROVEMENT = 2
"""The query of an operation is replaced if another query finds more than `MIN_IMPROVEMENT` times as many tokens."""


def largest_result(bench: Bench, name: str, query: str | None = None) -> Call:
    """Call an operation at its richest detail level."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[-1] if details else None, query=query)


def tokens_of(call: Call) -> float:
    """Return the tokens of a result: the server's own estimate (E) or, if that is unknown or 0, the lowest estimate
    that is plausible for the size of the result."""
    return call.estimate or MIN_FACTOR * size_of(call) / 4


def is_enough(bench: Bench, call: Call) -> bool:
    """Return whether a result is clearly above the default thresholds of all editions by which the run is judged."""
    return tokens_of(call) >= 1.2 * max(e.default_threshold_tokens for e in bench.editions.all)


def found_nothing(call: Call) -> bool:
    """Return whether a call has found no records: its result is an empty list or file, a short text, an error, or
    missing.

    A result that could not be written does not count as empty, even if no record of it is returned.
    """
    if call.outcome == "offloaded":
        return call.file is not None and call.file.problem is None and not call.file_records
    if write_failure(call) is not None:
        return False
    if call.outcome != "inline":
        return True
    return not call.records if call.records is not None else len(call.text) <= MAX_MESSAGE_CHARACTERS


def replace_poor_queries(bench: Bench) -> list[str]:
    """Replace queries that find too little by queries that find more than `MIN_IMPROVEMENT` times as many tokens.

    The benches of a lab share their operations, so the new queries are used for all servers. Returns a remark for each
    operation for which no query finds anything.
    """
    remarks: list[str] = []
    calls: list[Call] = []
    for name, operation in bench.operations.items():
        current = largest_result(bench, name)
        calls.append(current)
        if operation.query is None or is_enough(bench, current):
            continue
        word = common_word(r for c in calls for r in (c.file_records or c.records or []))
        current_query = operation.arguments.get(operation.query)
        candidates = [q for q in (*FALLBACK_QUERIES, *([word] if word is not None else [])) if q != current_query]
        best = current
        for query in candidates:
            if is_enough(bench, best) or not bench.server.alive:
                break
            best = max(best, largest_result(bench, name, query), key=tokens_of)
        if tokens_of(best) > MIN_IMPROVEMENT * tokens_of(current) and not found_nothing(best):
            calls.append(best)
            bench.operations[name] = replace(operation, arguments={**operation.arguments, operation.query: best.query})
            old_query = f"the query {show(current_query)}" if current_query is not None else "a call without a query"
            found = (
                "nothing"
                if found_nothing(current)
                else f"about {round(tokens_of(current))} tokens, too little to test the default threshold,"
            )
            bench.ledger.remark(
                f"{operation.tool}: {old_query} found {found} in the server's memories, so the suite uses the query "
                f"{show(best.query)} instead"
            )
        elif found_nothing(current) and current.outcome in ("inline", "offloaded"):
            tried = ", ".join(show(q) for q in dict.fromkeys((current_query, *candidates)) if q is not None)
            remarks.append(
                f"{operation.tool} finds no records by the queries {tried}: name arguments that find many memories "
                f"(profile: operations.{name}.arguments)"
            )
    return remarks
