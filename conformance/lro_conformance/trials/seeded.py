"""Servers with known memories: in a wide script, to see how it is estimated, and very large ones."""

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
    MANY_WORD,
    MIXED_WORDS,
    OTHER_WORD,
    ROUGH_WORD,
    WORD,
    Memory,
    delicate,
    large,
    many_small,
    mixed,
    rough,
    wide,
)
from lro_conformance.capture.estimate import is_honest, tokens_per_character
from lro_conformance.capture.records import wide_characters
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.survey import LARGE_LIMIT, Survey

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

LARGE = (72_000, 10_000)
"""Sizes of the large memory in characters; the first that the server accepts is used (columns may have 2^16 bytes)."""

LACKING = (("tags", "provenance"), ("tags",), ())
"""Sets of fields that some memories lack and others have: the first that the server accepts is used."""

MANY_S = 4.0
"""Seconds after which no more of the many small memories are stored in a server."""

WRAP = 1 << 16
"""The number at which a count in 16 bits overflows."""


@dataclass(frozen=True)
class Seeded:
    """Results of a server with memories of the suite: CJK scripts, large and unusual ones."""

    wide: tuple[Call, ...]
    """Offloaded calls, those with the largest share of wide characters first."""
    large: Call | None
    """A call for one memory of many thousand tokens at a threshold of twice its E."""
    large_filed: Call | None
    """The call for the memory of `large` at a threshold of 1, which offloads it."""
    large_estimate: int
    huge: Call | None
    """A call for one memory of more than 2^16 tokens at the threshold of `large`; None if the server did not accept
    it."""
    delicate: Call | None = None
    """A call for memories with values that careless code alters, stored under two ids, inline."""
    delicate_filed: Call | None = None
    """A call for the memories of `delicate` at a threshold of 1, which offloads them."""
    rough: Call | None = None
    """A call for a memory with values that some stores reject, inline; None if it was rejected."""
    rough_filed: Call | None = None
    """A call for the memory of `rough` at a threshold of 1, which offloads it."""
    mixed: tuple[Call, ...] = ()
    """Offloaded calls whose first memory has more or fewer fields than a later one."""
    many: Call | None = None
    """A call for the many small memories that were stored within `MANY_S`, inline; None if they were too few."""
    many_filed: Call | None = None
    """A call for as many small memories as `many` at a threshold of 1, which offloads them."""

    @property
    def files(self) -> list[Call]:
        """The calls whose files were read and have records. Calls for mixed memories need two or more, since a single
        record is no evidence of an estimate."""
        mixed = (c for c in self.mixed if len(c.file_records) > 1)
        calls = (*self.wide, self.large_filed, self.delicate_filed, self.rough_filed, *mixed)
        return [c for c in calls if c is not None and c.file_records]


@trial("memories in a wide script", after=("cleanup", "sweeps"))
def seeded(lab: Lab, survey: Survey) -> Seeded:
    """Store memories in CJK scripts, large ones and unusual ones, and make calls that return them."""
    from lro_conformance.lab.seeding import reason_not_to_store  # not above: judging must not load the laboratory

    if (reason := reason_not_to_store(lab.profile.seed)) is not None:
        raise NotObserved(reason)
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    name = next(n for n in survey.operations if survey.offloads(n))
    finder = _finder(survey)
    with _bench(lab, name) as bench:
        for memory in wide():
            if not lab.seeding.is_stored(bench, bench.store(memory)):
                raise NotObserved("the server did not accept a memory of the suite")
        calls = [_richest(bench, name, limit=limit) for limit in (len(wide()), LIMIT)]
        if finder is not None:
            calls.append(_richest(bench, finder, query="漢字"))
            name = finder
        accepted = next((m for m in map(large, LARGE) if bench.stored(m)), None)
        filed = _alone(bench, name, WORD) if accepted is not None else None
        twins_filed, rough_filed, mixed_calls = _twins(bench, name), _rough(bench, name), _mixed(bench, name)
        stored = _store_many(bench) if finder is not None and accepted is not None else 0
        many_filed = _all_of_many(bench, name) if stored > LIMIT else None
    found = tuple(sorted((c for c in calls if c.outcome == "offloaded" and c.file_records), key=_narrow_share))
    if accepted is None or filed is None or filed.estimate is None or finder is None:
        return Seeded(found, None, filed, 0, None, mixed=mixed_calls)
    with lab.bench(Settings(threshold_tokens=2 * filed.estimate)) as bench:
        inline = _alone(bench, name, WORD) if bench.stored(accepted) else None
        huge = _alone(bench, name, OTHER_WORD) if is_honest(filed) and bench.stored(_huge(filed)) else None
        twins_inline = _twins(bench, name) if twins_filed is not None else None
        rough_inline = _rough(bench, name) if rough_filed is not None else None
        again = many_filed is not None and _store_many(bench, stored) == stored
        many = _all_of_many(bench, name) if again else None
    return Seeded(
        wide=found,
        large=inline,
        large_filed=filed,
        large_estimate=filed.estimate,
        huge=huge,
        delicate=twins_inline,
        delicate_filed=twins_filed,
        rough=rough_inline,
        rough_filed=rough_filed,
        mixed=mixed_calls,
        many=many,
        many_filed=many_filed,
    )


def _finder(survey: Survey) -> str | None:
    """The operation that finds stored memories by a word in them: the first one with a query; None if there is none.

    An operation without a query may return memories other than the stored ones.
    """
    offloading = (n for n in survey.operations if survey.offloads(n))
    return next((n for n in offloading if survey.operations[n].query is not None), None)


def _richest(bench: Bench, name: str, **how: Any) -> Call:
    """A call at the richest detail level, but not at light, where records have titles only."""
    details = [d for d in bench.operations[name].details if d != "light"] or [None]
    return bench.call(name, detail=details[-1], **how)


@contextmanager
def _bench(lab: Lab, name: str) -> Generator[Bench]:
    """The server that the trial `cleanup` kept, if its files can be read, or a fresh one; with the lowest threshold.

    The kept server is used only once: a further attempt must not find memories that the first one stored.
    """
    kept = lab.kept.pop("cleanup", None)
    file = kept.offloading_call(name, 2).file if kept is not None and kept.server.alive else None
    if kept is not None and file is not None and file.problem is None:
        yield kept
    else:
        with lab.bench(Settings(threshold_tokens=1)) as bench:
            yield bench


def _huge(known: Call) -> Memory:
    """A memory whose E, counted in 16 bits, is well below the threshold of twice the *known* call's E."""
    return large(int((WRAP + (known.estimate or 0)) / tokens_per_character(known)), OTHER_WORD)


def _twins(bench: Bench, name: str) -> Call | None:
    """A call for the two memories that differ only in their ids; None if they were not accepted."""
    both = all(bench.stored({**delicate(), "id": id}) for id in DELICATE_IDS)
    return _alone(bench, name, DELICATE_WORD, limit=5) if both else None


def _rough(bench: Bench, name: str) -> Call | None:
    return _alone(bench, name, ROUGH_WORD) if bench.server.alive and bench.stored(rough()) else None


def _mixed(bench: Bench, name: str) -> tuple[Call, ...]:
    """Calls for memories with different fields, in both orders; made last, as a server may not accept them.

    A server that takes few fields may require some of them: then the memories lack others.
    """
    if not bench.server.alive:
        return ()
    if not any(all(map(bench.stored, mixed(lacking))) for lacking in LACKING if bench.server.alive):
        return ()
    calls = [_alone(bench, name, word, limit=5) for word in MIXED_WORDS if bench.server.alive]
    return tuple(c for c in calls if c.outcome == "offloaded" and c.file_records)


def _store_many(bench: Bench, most: int | None = None) -> int:
    """Store small memories for `MANY_S` seconds or, if *most* is given, that many. Returns the number accepted."""
    until = time.monotonic() + MANY_S
    number = 0
    for memory in many_small()[:most]:
        if (most is None and time.monotonic() > until) or not bench.server.alive or not bench.stored(memory):
            break
        number += 1
    return number


def _all_of_many(bench: Bench, name: str) -> Call:
    """A call for all of the many small memories, at the leanest detail level, so that it can stay inline in a server
    with a high threshold."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[0] if details else None, limit=LARGE_LIMIT, query=MANY_WORD)


def _alone(bench: Bench, name: str, word: str, limit: int = 1) -> Call:
    """A call that finds only the memory with this word, if the server's search allows."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[-1] if details else None, limit=limit, query=word)


def _narrow_share(call: Call) -> float:
    text = call.file.data.decode("utf-8", "replace") if call.file is not None else ""
    return 1 - wide_characters(text) / max(1, len(text))
