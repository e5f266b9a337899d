"""A server with its defaults: where it begins to offload, and which files it deletes.

E is the estimated number of tokens of a result, which the header of an offloaded file states.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import GROWING_WORD, growing
from lro_conformance.capture.records import Record, comparable_keys
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import USUAL_LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.cleanup import HOUR, Cleaning, clean
from lro_conformance.trials.survey import Survey, usual_detail
from lro_spec.filenames import real_path

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

MARGIN_S = 300
"""Seconds by which back-dated files are older or younger than the default TTL."""
MAX_LIMIT = 4000
"""The largest `limit` argument of the calls that look for a result above the default threshold."""
MAX_QUERIES = 40
"""Largest number of words, from rare to frequent, that are searched for if a tool takes no limit."""
WATCHED_SHARE = 0.85
"""Share of the default threshold from which a growing result is watched.

Some results are made to grow by storing one memory after the other. Once a result has been inline, the server with its
defaults is not called again until E has reached this share. Then it is called after each memory, so that the crossing
of the threshold is not missed.
"""


@dataclass(frozen=True)
class Bracket:
    """The results of one operation that are nearest to the default threshold, on both sides of it."""

    operation: str
    detail: str | None
    inline: Call | None
    """The call with the largest result that stayed inline; None if none did."""
    inline_estimate: int | None
    """E of `inline`, learned from the same call with the lowest threshold; None if it is unknown."""
    offloaded: Call | None
    """The call with the smallest result that was offloaded; None if none was."""

    @property
    def is_close(self) -> bool:
        """True if E of both results is known, and E of the offloaded result is at most a tenth above E of the inline
        result."""
        upper = self.offloaded.estimate if self.offloaded is not None else None
        return upper is not None and self.inline_estimate is not None and upper <= 1.1 * self.inline_estimate


@dataclass(frozen=True)
class Defaults:
    """Observations of a server with its defaults. Only the output folder is set, except in the calls of `bare` and
    `enabled`."""

    brackets: tuple[Bracket, ...]
    cleaning: Cleaning | None
    """A cleanup under the default TTL. None if that TTL is not in force, if nothing was offloaded to a readable file,
    or if no output folder could be set."""
    bare: Call | None
    """A call for as many records as possible, on a server without any setting. None if nothing was offloaded by the
    server that had only its output folder set."""
    bare_temps: tuple[Path, ...]
    """The folder that TMPDIR named for that server, and the system's temporary folders, with links resolved."""
    enabled: tuple[Call, ...]
    """A call of each operation for as many records as possible, with ``enabled = true`` set. Empty if something was
    offloaded without this setting, or if it cannot be set."""
    preset: Mapping[str, str] = field(default_factory=dict[str, str])
    """Settings that the profile's command or environment sets, with the flag or variable."""


def require_default(preset: Mapping[str, str], setting: str) -> None:
    """Raise `NotObserved` if the profile's command or environment gives the server a value of this *setting*."""
    if setting in preset:
        raise NotObserved(f"the server is started with {preset[setting]}, so the default of {setting} is not in force")


@trial("default threshold, from both sides; default TTL")
def defaults(lab: Lab, survey: Survey) -> Defaults:
    """Find the results next to the default threshold, and clean up under the default TTL."""
    if not survey.answered:
        raise NotObserved("no operation answered")
    with lab.bench(Settings(omits_enabled=True)) as bench:
        brackets = tuple(_brackets(lab, bench, survey))
        brackets += tuple(_brackets_by_storing(lab, survey, brackets))
        crossing = next((b.offloaded for b in brackets if b.offloaded is not None), None)
        cleaning = None
        if crossing is not None and "ttl_seconds" not in lab.profile.preset:
            ages = (HOUR - MARGIN_S, HOUR + MARGIN_S)
            cleaning = clean(bench, None, ages, partial(_again, bench, crossing))
    bare, bare_temps = _bare(lab, crossing)
    enabled: tuple[Call, ...] = ()
    if crossing is None and lab.can_set("enabled"):
        with lab.bench(Settings(enabled=True)) as bench:
            enabled = tuple(_largest_call(bench, n, _fullest(survey, n), USUAL_LIMIT) for n in survey.operations)
    return Defaults(brackets, cleaning, bare, bare_temps, enabled, lab.profile.preset)


def _bare(lab: Lab, crossing: Call | None) -> tuple[Call | None, tuple[Path, ...]]:
    if crossing is None:
        return None, ()
    with lab.bench(Settings(output_dir=None, omits_enabled=True)) as bench:
        return _largest_call(bench, crossing.operation, crossing.detail, crossing.limit), real_temps(bench)


def _largest_call(bench: Bench, name: str, detail: str | None, limit: int | None) -> Call:
    """A call with `MAX_LIMIT` or, if the server rejects `MAX_LIMIT`, with *limit*."""
    call = bench.call(name, detail=detail, limit=MAX_LIMIT)
    return bench.call(name, detail=detail, limit=limit) if call.outcome == "error" else call


def real_temps(bench: Bench) -> tuple[Path, ...]:
    """Directories for a server's temporary files, with links resolved; the directory of TMPDIR comes first."""
    return tuple(Path(real_path(str(t))) for t in bench.temp_folders)


def _again(bench: Bench, call: Call) -> Call:
    return bench.call(call.operation, detail=call.detail, limit=call.limit)


def _brackets(lab: Lab, bench: Bench, survey: Survey) -> list[Bracket]:
    found: list[Bracket] = []
    for (name, detail), call in survey.whole.items():
        if call.outcome not in ("inline", "offloaded") or (detail is None and bench.operations[name].details):
            continue
        lab.step("defaults", f"{name} {detail or ''}")
        found.append(_bracket(lab, bench, survey, name, detail))
    return found


def _bracket(lab: Lab, bench: Bench, survey: Survey, name: str, detail: str | None) -> Bracket:
    """Halve the interval of limits, or of queries if the tool takes no limit, until its ends are neighbours."""
    top = next((c for c in _calls_with_growing_limits(bench, name, detail) if c.outcome == "offloaded"), None)
    if top is None:
        greatest = _largest_call(bench, name, detail, USUAL_LIMIT)
        inline = greatest if greatest.outcome == "inline" else None
        return Bracket(name, detail, inline, _estimate_of(lab, survey, inline), None)
    if top.limit is None:
        queries = _queries_by_size(lab, survey, top)
        low, high = -1, len(queries)
    else:
        queries, low, high = None, 0, min(top.limit, max(1, len(top.file_records)))
    lower, upper = None, top
    # The search begins near the default of the edition; the server's behaviour decides where it ends.
    likely_limits = _likely_limits(top, bench.editions.own.default_threshold_tokens) if queries is None else iter(())
    while high - low > 1:
        middle = next((n for n in likely_limits if low < n < high), (low + high) // 2)
        if queries is None:
            call = bench.call(name, detail=detail, limit=middle)
        else:
            call = bench.call(name, detail=detail, query=queries[middle])
        if call.outcome == "offloaded":
            high, upper = middle, call
        else:
            low, lower = middle, call
    inline = lower if lower is not None and lower.outcome == "inline" and lower.text else None
    return Bracket(name, detail, inline, _estimate_of(lab, survey, inline), upper)


def _queries_by_size(lab: Lab, survey: Survey, top: Call) -> list[str]:
    """Words of titles, sorted by E of the results that they find. If the threshold cannot be set, so that E is unknown,
    the words are sorted from rare to frequent."""
    if survey.operations[top.operation].query is None:
        return []
    titles = [str(r.get("title") or "") for r in top.file_records]
    frequencies = Counter(word for title in titles for word in {w for w in re.findall(r"\w{4,}", title) if w.isascii()})
    words = [word for word, _ in frequencies.most_common()]
    # the ranks are closer together among the frequent words
    ranks = {int(len(words) ** (n / MAX_QUERIES)) for n in range(MAX_QUERIES)}
    queries = [words[rank - 1] for rank in sorted(ranks, reverse=True) if 1 <= rank <= len(words)]
    if not survey.adjustable:
        return queries
    calls = (lab.kept["survey"].call(top.operation, detail=top.detail, query=word) for word in queries)
    sized = sorted((c.estimate, str(c.query)) for c in calls if c.estimate is not None)
    return [query for _, query in sized]


def _brackets_by_storing(lab: Lab, survey: Survey, brackets: Sequence[Bracket]) -> Iterator[Bracket]:
    """Brackets of results that grow with each stored memory, for the operations that have no close bracket yet.

    Two servers are given the same memories: one server as shipped, and one server with the lowest threshold, which
    states E in the headers of its files. There are no brackets if memories cannot be stored, or if one of these
    operations takes a limit.
    """
    seed, default = lab.profile.seed, lab.editions.own.default_threshold_tokens
    unbracketed = [n for n in survey.effective if not any(b.operation == n and b.is_close for b in brackets)]
    if (
        seed is None
        or seed.tool is None
        or not unbracketed
        or any(survey.operations[n].limit is not None for n in unbracketed)
    ):
        return
    lab.step("defaults", "results that grow with each stored memory")
    with (
        lab.bench(Settings(omits_enabled=True), seeds=False) as bench,
        lab.bench(Settings(threshold_tokens=1), seeds=False) as measuring_bench,
    ):
        below: dict[str, tuple[Call, int]] = {}
        for memory in growing():
            if not (bench.try_to_store(memory) and measuring_bench.try_to_store(memory)):
                return
            for name in unbracketed[:]:
                detail = usual_detail(bench.operations[name])
                estimate = measuring_bench.call(name, detail=detail, query=GROWING_WORD).estimate
                if estimate is None or (estimate < WATCHED_SHARE * default and name in below):
                    continue
                call = bench.call(name, detail=detail, query=GROWING_WORD)
                if call.outcome == "inline":
                    below[name] = call, estimate
                elif call.outcome == "offloaded":
                    inline, inline_estimate = below.get(name, (None, None))
                    yield Bracket(name, detail, inline, inline_estimate, call)
                    unbracketed.remove(name)
            if not unbracketed:
                return
        for name in unbracketed:
            if name in below:
                inline, inline_estimate = below[name]
                yield Bracket(name, usual_detail(bench.operations[name]), inline, inline_estimate, None)


def _likely_limits(top: Call, default: int) -> Iterator[int]:
    """Limits to try first. They are around the limit at which E should reach the *default* threshold, judging by the
    sizes of the records."""
    if not top.estimate or top.file is None:
        return
    reached = list(accumulate(len(line.raw) for line in top.file.record_lines))
    guess = bisect_right(reached, reached[-1] * default / top.estimate) if reached else 0
    yield from (guess, guess + 1, guess - 3, guess + 4)


def _calls_with_growing_limits(bench: Bench, name: str, detail: str | None) -> list[Call]:
    """Calls with larger and larger limits, up to the first call that is offloaded. If the tool takes no limit, there is
    only one call."""
    calls: list[Call] = []
    limit = USUAL_LIMIT
    while limit <= MAX_LIMIT:
        calls.append(bench.call(name, detail=detail, limit=limit))
        if calls[-1].outcome == "offloaded" or calls[-1].limit is None:
            break
        limit *= 5
    return calls


def _estimate_of(lab: Lab, survey: Survey, call: Call | None) -> int | None:
    """E of the same call on the server of the survey, which has the lowest threshold. None if it is unknown, or if that
    server returns other records, of which E would be."""
    if call is None or not survey.adjustable:
        return None
    same = lab.kept["survey"].call(call.operation, detail=call.detail, limit=call.limit, query=call.query)
    return None if _has_other_records(call, same) else same.estimate


def _has_other_records(inline: Call, offloaded: Call) -> bool:
    """True if both calls have records, and their ids or titles are not the same, in whatever order. If the inline
    result is a text, it has to show the first records of the file, since a budget may have cut off the others."""
    records, file_records = inline.records or [], offloaded.file_records
    if inline.records is None:
        return not all(_is_shown(record, inline.text) for record in file_records[:_FIRST_RECORDS])
    if not records or not file_records:
        return False
    keys, file_keys = map(set, comparable_keys(records, file_records))
    # Ids alone prove nothing if they have nothing in common: each process may give memories ids of its own.
    are_shared = not keys.isdisjoint(file_keys) or all("title" in r for r in (*records, *file_records))
    return are_shared and keys != file_keys


def _is_shown(record: Record, text: str) -> bool:
    """True if a text has the title of a record, or the beginning of its content, or if the record has neither."""
    texts = (record.get(name) for name in ("title", "content"))
    openings = [t[:_OPENING] for t in texts if isinstance(t, str) and t]
    return not openings or any(opening in text for opening in openings)


_FIRST_RECORDS, _OPENING = 3, 30
"""Number of records that a text has to show, and the number of characters by which they are recognised."""


def _fullest(survey: Survey, name: str) -> str | None:
    details = survey.operations[name].details
    return details[-1] if details else None
