"""The greatest limit that a server takes, where it says so in an error only and its inputSchema has no ``maximum``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from lro_conformance.records import show

if TYPE_CHECKING:
    from lro_conformance.bench import Bench
    from lro_conformance.calls import Call

_NUMBER = re.compile(r"(?<![\w.])\d{1,6}(?![\w.]?\d)")


def within_limit(bench: Bench, call: Call) -> Call | None:
    """The call once more with the limit that its error tells of; None where that was not the reason.

    It was, where so many records are given and one more is refused as well. From then on no more are asked for. That is
    tried at the lowest threshold only, where offloading makes no difference between them: elsewhere one record more may
    be the one that has to be written, and cannot be.
    """
    if bench.settings.get("threshold_tokens") != bench.lab.taken.lowest:
        return None
    for most in _told(bench, call):
        again, beyond = (
            bench.calls([{"name": call.operation, "detail": call.detail, "limit": n, "query": call.query}])[0]
            for n in (most, most + 1)
        )
        if again.outcome != "error" and beyond.outcome == "error":
            bench.operations[call.operation] = replace(bench.operations[call.operation], limit_maximum=most)
            return again
    return None


def _told(bench: Bench, call: Call) -> Iterator[int]:
    """Smaller limits that an error names, beside the argument's name; the greatest first."""
    argument = bench.operations[call.operation].limit
    said = call.text if call.reply.error is None else show(call.reply.error, 10_000)
    if call.limit is None or argument is None or argument.lower() not in said.lower():
        return
    yield from sorted({n for n in map(int, _NUMBER.findall(said)) if 0 < n < call.limit - 1}, reverse=True)[:3]
