"""Servers that hold memories of the suite. Some are in CJK scripts, to see how these scripts count in E, the estimated
number of tokens. Others are very large, unusual, or very many."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import (
    DELICATE_IDS,
    DELICATE_WORD,
    LARGE_WORD,
    MANY_WORD,
    MIXED_WORDS,
    OTHER_WORD,
    ROUGH_WORD,
    Memory,
    cjk_memories,
    delicate_memory,
    large,
    many_small,
    mixed_memories,
    rough_memory,
)
from lro_conformance.capture.estimate import is_within_tolerance, tokens_per_character
from lro_conformance.capture.records import wide_characters
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import USUAL_LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.survey import LARGE_LIMIT, Survey

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

LARGE_SIZES = (72_000, 10_000)
"""Sizes of the large memory in characters; the first that the server accepts is used. The second suits databases whose
columns hold at most 2^16 bytes."""

MISSING_FIELDS = (("tags", "provenance"), ("tags",), ())
"""Sets of fields that some memories lack and others have. The first set that the server accepts is used."""

STORING_TIME_S = 4.0
"""Seconds after which storing the many small memories ends."""

OVERFLOW_16_BITS = 1 << 16
"""The number at which a count in 16 bits overflows."""


@dataclass(frozen=True)
class Seeded:
    """Results of a server that holds memories of the suite: memories in CJK scripts, large memories, and unusual
    memories."""

    wide: tuple[Call, ...]
    """Offloaded calls after memories in CJK scripts were stored. The call with the largest share of characters of these
    scripts comes first."""
    large: Call | None
    """A call for one memory, whose size is one of `LARGE_SIZES`, at a threshold of twice its E."""
    large_filed: Call | None
    """The call for the memory of `large` at a threshold of 1, which offloads it."""
    large_estimate: int
    """E of `large_filed`; 0 if it is unknown, or if no operation takes a query by which to find the memory."""
    huge: Call | None
    """A call for one memory of more than 2^16 tokens at the threshold of `large`; None if E of `large_filed` is not
    within the tolerance, or if the server did not accept the memory."""
    delicate: Call | None = None
    """A call for a memory with values that careless code alters, stored twice under different ids; inline."""
    delicate_filed: Call | None = None
    """A call for the same memories as `delicate` at a threshold of 1, which offloads them."""
    rough: Call | None = None
    """A call for a memory with values that some servers reject; inline. None if it was rejected."""
    rough_filed: Call | None = None
    """A call for the memory of `rough` at a threshold of 1, which offloads it."""
    mixed: tuple[Call, ...] = ()
    """Offloaded calls whose first memory has more or fewer fields than a later memory."""
    many: Call | None = None
    """A call for the many small memories that were stored within `STORING_TIME_S`; inline. None if not more than
    `USUAL_LIMIT` memories were stored."""
    many_filed: Call | None = None
    """A call for as many small memories as `many` at a threshold of 1, which offloads them."""

    @property
    def files(self) -> list[Call]:
        """The offloaded calls whose files could be read and have records; `many_filed` is left out.

        Calls of `mixed` are included only if their files have two records or more, since a single record is no evidence
        of an estimate.
        """
        mixed = (c for c in self.mixed if len(c.file_records) > 1)
        calls = (*self.wide, self.large_filed, self.delicate_filed, self.rough_filed, *mixed)
        return [c for c in calls if c is not None and c.file_records]


@trial("large memories, memories in CJK scripts, and unusual ones", after=("cleanup", "sweeps"))
def seeded(lab: Lab, survey: Survey) -> Seeded:
    """Store memories in CJK scripts, large memories and unusual memories, and make calls that return them."""
    from lro_conformance.lab.seeding import reason_not_to_store  # not above: judging must not load the laboratory

    if (reason := reason_not_to_store(lab.profile.seed)) is not None:
        raise NotObserved(reason)
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    name = next(n for n in survey.operations if survey.offloads(n))
    finder = _finder(survey)
    with _bench(lab, name) as bench:
        for memory in cjk_memories():
            if not lab.seeding.is_stored(bench, bench.store(memory)):
                raise NotObserved("the server did not accept a memory of the suite")
        calls = [_richest(bench, name, limit=limit) for limit in (len(cjk_memories()), USUAL_LIMIT)]
        if finder is not None:
            calls.append(_richest(bench, finder, query="漢字"))
            name = finder
        accepted = next((m for m in map(large, LARGE_SIZES) if bench.try_to_store(m)), None)
        filed = _alone(bench, name, LARGE_WORD) if accepted is not None else None
        delicate_filed, rough_filed, mixed_calls = _delicate(bench, name), _rough(bench, name), _mixed(bench, name)
        stored = _store_many(bench) if finder is not None and accepted is not None else 0
        many_filed = _all_of_many(bench, name) if stored > USUAL_LIMIT else None
    in_cjk = tuple(sorted((c for c in calls if c.outcome == "offloaded" and c.file_records), key=_narrow_share))
    if accepted is None or filed is None or filed.estimate is None or finder is None:
        return Seeded(in_cjk, None, filed, 0, None, mixed=mixed_calls)
    with lab.bench(Settings(threshold_tokens=2 * filed.estimate)) as bench:
        inline = _alone(bench, name, LARGE_WORD) if bench.try_to_store(accepted) else None
        huge = (
            _alone(bench, name, OTHER_WORD) if is_within_tolerance(filed) and bench.try_to_store(_huge(filed)) else None
        )
        delicate_inline = _delicate(bench, name) if delicate_filed is not None else None
        rough_inline = _rough(bench, name) if rough_filed is not None else None
        are_stored_again = many_filed is not None and _store_many(bench, stored) == stored
        many = _all_of_many(bench, name) if are_stored_again else None
    return Seeded(
        wide=in_cjk,
        large=inline,
        large_filed=filed,
        large_estimate=filed.estimate,
        huge=huge,
        delicate=delicate_inline,
        delicate_filed=delicate_filed,
        rough=rough_inline,
        rough_filed=rough_filed,
        mixed=mixed_calls,
        many=many,
        many_filed=many_filed,
    )


def _finder(survey: Survey) -> str | None:
    """The operation that finds stored memories by a word in them: the first one with a query; None if there is none.

    An operation without a query may return memories other than the stored memories.
    """
    offloading = (n for n in survey.operations if survey.offloads(n))
    return next((n for n in offloading if survey.operations[n].query is not None), None)


def _richest(bench: Bench, name: str, **arguments: Any) -> Call:
    """A call at the richest detail level. The level ``light`` is never used, because its records have no content. A
    tool that has no other level is called without a level."""
    details = [d for d in bench.operations[name].details if d != "light"] or [None]
    return bench.call(name, detail=details[-1], **arguments)


@contextmanager
def _bench(lab: Lab, name: str) -> Generator[Bench]:
    """A server with the lowest threshold: the server that was kept by the trial `cleanup`, or else a fresh server.

    A fresh server is started if no server was kept, or if its files cannot be read. The kept server is used only once,
    because a further attempt must not find memories that were stored by the first attempt.
    """
    kept = lab.kept.pop("cleanup", None)
    file = kept.offloading_call(name, 2).file if kept is not None and kept.server.alive else None
    if kept is not None and file is not None and file.problem is None:
        yield kept
    else:
        with lab.bench(Settings(threshold_tokens=1)) as bench:
            yield bench


def _huge(known: Call) -> Memory:
    """A memory whose E is about 2^16 more than E of the *known* call.

    Counted in 16 bits, this wraps around to about the known E, well below a threshold of twice the known E.
    """
    return large(int((OVERFLOW_16_BITS + (known.estimate or 0)) / tokens_per_character(known)), OTHER_WORD)


def _delicate(bench: Bench, name: str) -> Call | None:
    """A call for the memory `delicate_memory`, which is stored under two ids; None if it was not accepted under
    both."""
    both = all(bench.try_to_store({**delicate_memory(), "id": id}) for id in DELICATE_IDS)
    return _alone(bench, name, DELICATE_WORD, limit=5) if both else None


def _rough(bench: Bench, name: str) -> Call | None:
    return _alone(bench, name, ROUGH_WORD) if bench.server.alive and bench.try_to_store(rough_memory()) else None


def _mixed(bench: Bench, name: str) -> tuple[Call, ...]:
    """The offloaded calls for memories with different fields, in both orders.

    A server may require a field that the memories lack. So the sets of missing fields in `MISSING_FIELDS` are tried in
    turn; each set has fewer fields than the set before.
    """
    if not bench.server.alive:
        return ()
    if not any(
        all(map(bench.try_to_store, mixed_memories(lacking))) for lacking in MISSING_FIELDS if bench.server.alive
    ):
        return ()
    calls = [_alone(bench, name, word, limit=5) for word in MIXED_WORDS if bench.server.alive]
    return tuple(c for c in calls if c.outcome == "offloaded" and c.file_records)


def _store_many(bench: Bench, count: int | None = None) -> int:
    """Store small memories for `STORING_TIME_S` seconds or, if *count* is given, this number of memories. Returns the
    number of memories that were accepted."""
    until = time.monotonic() + STORING_TIME_S
    number = 0
    for memory in many_small()[:count]:
        if (count is None and time.monotonic() > until) or not bench.server.alive or not bench.try_to_store(memory):
            break
        number += 1
    return number


def _all_of_many(bench: Bench, name: str) -> Call:
    """A call for all of the many small memories, at the leanest detail level, so that it can stay inline in a server
    with a high threshold."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[0] if details else None, limit=LARGE_LIMIT, query=MANY_WORD)


def _alone(bench: Bench, name: str, word: str, limit: int = 1) -> Call:
    """A call that finds only the memories with this *word*, as far as the server's search distinguishes words."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[-1] if details else None, limit=limit, query=word)


def _narrow_share(call: Call) -> float:
    text = call.file.data.decode("utf-8", "replace") if call.file is not None else ""
    return 1 - wide_characters(text) / max(1, len(text))
