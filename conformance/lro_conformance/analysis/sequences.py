"""Sequences of the explorer: the calls before each call, failed writes, and calls after writing works again.

A *triple* is a call that is made to several servers in lockstep: one with the lowest threshold, one that answers
inline, and usually one with a threshold between these two. To *mend* a folder is to make it usable again after it was
broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lro_conformance.analysis.threshold import MAX_DRIFT_SHARE
from lro_conformance.capture.call import Call, died
from lro_conformance.capture.intervention import CLEANED_UP, MENDED, Intervention
from lro_conformance.trials.exploration import AfterSteps, Explored, Sweep, Triple
from lro_conformance.trials.fallback import Failing, Recovered, known_records


@dataclass(frozen=True)
class TripleInSequence:
    """A call to servers in lockstep, with the calls before it in its sequence."""

    triple: Triple
    earlier: tuple[Triple, ...] = field(repr=False)
    """The earlier calls of the same sequence."""
    is_stuck: bool = False
    """True if the servers did not offload again after their folder was mended. That may have happened at this call, or
    at an earlier call."""
    is_reduced: bool = False
    """True if the sequence is the shortest that reproduces a violation, so that every step is needed."""

    def steps(self, call: Call) -> tuple[Call | Intervention, ...]:
        """The interventions, and the earlier calls to the same server, that come before a *call*. Empty if there were
        no interventions and the earlier calls are not needed."""
        needed = self.is_reduced or self.triple.before or any(t.before or t.sweep is not None for t in self.earlier)
        if not needed:
            return ()
        server_index = next(n for n, one in enumerate(self.triple.calls) if one is call)
        steps: list[Call | Intervention] = []
        for triple in self.earlier:
            steps += triple.before
            steps += triple.calls[server_index : server_index + 1]
            if triple.sweep is not None:
                ages = tuple(age for age, _ in triple.sweep.aged)
                steps.append(Intervention(CLEANED_UP, ages, triple.lowest.operation, triple.sweep.trigger))
        return (*steps, *self.triple.before)

    @property
    def original(self) -> Triple | None:
        """The latest earlier triple of the same call, with the same stored memories, that was offloaded; None if there
        is none."""
        triple = self.triple
        return next((t for t in reversed(self.earlier) if _is_same_call(t, triple) and _is_offloaded(t)), None)


def in_sequence(triples: Sequence[Triple], reduced: int = 0) -> Iterator[TripleInSequence]:
    """Each triple in its sequence. The first *reduced* triples belong to sequences in which every step is needed."""
    earlier: list[Triple] = []
    stuck = mended = False
    for number, triple in enumerate(triples):
        if triple.begins:
            earlier, stuck, mended = [], False, False
        mended = mended or any(i.kind == MENDED for i in triple.before)
        current = TripleInSequence(triple, tuple(earlier), stuck, number < reduced)
        if mended and not triple.broken and triple.lowest.outcome != "offloaded" and current.original is not None:
            stuck = True
        yield replace(current, is_stuck=stuck)
        earlier.append(triple)


def failing_in(explored: Explored) -> Iterator[Failing]:
    """The failed writes of an exploration."""
    for each in in_sequence(explored.smallest + explored.triples):
        yield from failing_of(each, observable=explored.events_observable)


def failing_of(current: TripleInSequence, *, observable: bool) -> Iterator[Failing]:
    """The failed writes of a triple: one for each server that offloaded the same call before its folder was broken.

    *observable* is True if the profile says where events can be seen.
    """
    original = current.original
    if not current.triple.broken or original is None:
        return
    inline = current.triple.inline
    for call, original_call in zip(current.triple.calls, original.calls, strict=True):
        if call is inline or not _surely_exceeded(original_call):
            continue
        threshold = call.settings.get("threshold_tokens")
        is_lowest = call is current.triple.lowest
        yield Failing(
            kind=current.triple.broken,
            call=call,
            threshold=threshold if isinstance(threshold, int) else 1,
            server=None,
            original=original.lowest,
            known=known_records(inline, original.lowest),
            alive=not died(call),
            events=current.triple.events or () if is_lowest else (),
            first=not any(t.broken for t in current.earlier),
            events_observable=observable,
            new_entries=(),
            steps=current.steps(call),
            events_known=is_lowest and current.triple.events is not None,
        )


def recovered_in(explored: Explored) -> Iterator[Recovered]:
    """The calls of an exploration after writing works again."""
    for each in in_sequence(explored.smallest + explored.triples):
        yield from recovered_of(each)


def recovered_of(current: TripleInSequence) -> Iterator[Recovered]:
    """The call after the folder was mended, for each server that had offloaded the same call before the folder was
    broken."""
    original = current.original
    if original is None or not any(i.kind == MENDED for i in current.triple.before):
        return
    for call, original_call in zip(current.triple.calls, original.calls, strict=True):
        if _surely_exceeded(original_call):
            yield Recovered(call, current.steps(call))


def explored_sweeps(explored: Explored) -> Iterator[tuple[Sweep, AfterSteps]]:
    """The cleanups of an exploration, each with the subject by which it is reproduced."""
    for each in in_sequence(explored.smallest + explored.triples):
        if (sweep := each.triple.sweep) is not None:
            yield sweep, AfterSteps(sweep.call, sweep, each.steps(each.triple.lowest))


def _is_same_call(one: Triple, other: Triple) -> bool:
    a, b = one.inline, other.inline
    return (a.operation, a.arguments, len(a.before)) == (b.operation, b.arguments, len(b.before))


def _is_offloaded(triple: Triple) -> bool:
    return not triple.broken and triple.lowest.outcome == "offloaded"


def _surely_exceeded(call: Call) -> bool:
    """Return whether a call was offloaded, and an identical call surely has to be offloaded, too. That is so if E
    exceeded the threshold by more than E may change between identical calls (`MAX_DRIFT_SHARE`). If E or the threshold
    is unknown, it is enough that the call was offloaded."""
    threshold, estimate = call.settings.get("threshold_tokens"), call.estimate
    if call.outcome != "offloaded" or not isinstance(threshold, int) or estimate is None:
        return call.outcome == "offloaded"
    return estimate - threshold > MAX_DRIFT_SHARE * threshold
