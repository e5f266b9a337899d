"""Queries that find memories: the query of each operation, or a better one if it finds too little."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.claims import size_of
from lro_conformance.capture.records import MAX_MESSAGE_CHARACTERS, common_word, show
from lro_conformance.capture.warnings import write_failure
from lro_spec.tokens import LOW

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench

OTHERS = ("*", "memory", "", "e", "a")
"""Queries that find everything in many servers, and words and letters that are in most memories."""

BETTER = 2
"""A query replaces the query of an operation if its result has more than this many times the tokens."""


def largest_result(bench: Bench, name: str, query: str | None = None) -> Call:
    """A call of an operation at its richest detail level."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[-1] if details else None, query=query)


def tokens_of(call: Call) -> float:
    """Tokens of a result: the server's own E or, if E is unknown or 0, the lowest honest estimate."""
    return call.estimate or LOW * size_of(call) / 4


def is_enough(bench: Bench, call: Call) -> bool:
    """Return whether a result is surely above the default threshold of each edition by which the run is judged."""
    return tokens_of(call) >= 1.2 * max(e.default_threshold_tokens for e in bench.editions.all)


def found_nothing(call: Call) -> bool:
    """Return whether a call has found no records: an empty list or file, a short text, an error, or no answer.

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
    """Replace queries that find too little by queries that find more than `BETTER` times as much.

    The benches of a lab share their operations, so this holds for all servers. Returns a remark for each operation that
    finds nothing by any query.
    """
    remarks: list[str] = []
    known: list[Call] = []
    for name, operation in bench.operations.items():
        own = largest_result(bench, name)
        known.append(own)
        if operation.query is None or is_enough(bench, own):
            continue
        word = common_word(r for c in known for r in (c.file_records or c.records or []))
        given = operation.arguments.get(operation.query)
        others = [q for q in (*OTHERS, *([word] if word is not None else [])) if q != given]
        best = own
        for query in others:
            if is_enough(bench, best) or not bench.server.alive:
                break
            best = max(best, largest_result(bench, name, query), key=tokens_of)
        if tokens_of(best) > BETTER * tokens_of(own) and not found_nothing(best):
            known.append(best)
            bench.operations[name] = replace(operation, arguments={**operation.arguments, operation.query: best.query})
            usual = f"the query {show(given)}" if given is not None else "a call without a query"
            little = (
                "nothing"
                if found_nothing(own)
                else f"about {round(tokens_of(own))} tokens, too little to test the default threshold,"
            )
            bench.ledger.remark(
                f"{operation.tool}: {usual} found {little} in the server's memories, so the suite uses the query "
                f"{show(best.query)} instead"
            )
        elif found_nothing(own) and own.outcome in ("inline", "offloaded"):
            tried = ", ".join(show(q) for q in dict.fromkeys((given, *others)) if q is not None)
            remarks.append(
                f"{operation.tool} finds no records by the queries {tried}: name arguments that find many memories "
                f"(profile: operations.{name}.arguments)"
            )
    return remarks
