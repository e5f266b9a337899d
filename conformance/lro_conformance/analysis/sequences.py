"""Sequences of the explorer: the calls before each call, failed writes, and calls after writing works again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lro_conformance.analysis.threshold import DRIFT
from lro_conformance.capture.call import Call, died
from lro_conformance.capture.intervention import CLEANED_UP, MENDED, Intervention
from lro_conformance.trials.exploration import AfterSteps, Explored, Sweep, Triple
from lro_conformance.trials.fallback import Failing, Recovered, known_records


@dataclass(frozen=True)
class TripleInSequence:
    """A call of servers in lockstep, with the calls before it in its sequence."""

    triple: Triple
    earlier: tuple[Triple, ...] = field(repr=False)
    """The calls before it, in the same sequence."""
    is_stuck: bool = False
    """True if the servers did not offload again after their folder was mended, at this call or earlier."""
    is_reduced: bool = False
    """True if the sequence is the shortest that reproduces a violation, so that every step is needed."""

    def steps(self, call: Call) -> tuple[Call | Intervention, ...]:
        """The interventions, and the calls of one server, before its *call*; empty if there were no interventions and
        the earlier calls are not needed."""
        needed = self.is_reduced or self.triple.before or any(t.before or t.sweep is not None for t in self.earlier)
        if not needed:
            return ()
        place = next(n for n, one in enumerate(self.triple.calls) if one is call)
        found: list[Call | Intervention] = []
        for triple in self.earlier:
            found += triple.before
            found += triple.calls[place : place + 1]
            if triple.sweep is not None:
                ages = tuple(age for age, _ in triple.sweep.aged)
                found.append(Intervention(CLEANED_UP, ages, triple.lowest.operation, triple.sweep.trigger))
        return (*found, *self.triple.before)

    @property
    def original(self) -> Triple | None:
        """The latest earlier call with the same arguments and memories that was offloaded; None if there is none."""
        one = self.triple
        return next((t for t in reversed(self.earlier) if _is_same_call(t, one) and _is_offloaded(t)), None)


def in_sequence(triples: Sequence[Triple], reduced: int = 0) -> Iterator[TripleInSequence]:
    """Each call in its sequence; the first *reduced* calls are of sequences in which every step is needed."""
    earlier: list[Triple] = []
    stuck = mended = False
    for number, triple in enumerate(triples):
        if triple.begins:
            earlier, stuck, mended = [], False, False
        mended = mended or any(i.kind == MENDED for i in triple.before)
        one = TripleInSequence(triple, tuple(earlier), stuck, number < reduced)
        if mended and not triple.broken and triple.lowest.outcome != "offloaded" and one.original is not None:
            stuck = True
        yield replace(one, is_stuck=stuck)
        earlier.append(triple)


def failing_in(explored: Explored) -> Iterator[Failing]:
    """The failed writes of an exploration."""
    for one in in_sequence(explored.smallest + explored.triples):
        yield from failing_of(one, observable=explored.events_observable)


def failing_of(one: TripleInSequence, *, observable: bool) -> Iterator[Failing]:
    """The failed writes of a call, one for each server that offloaded the same call before its folder was broken.

    *observable*: the profile says where events are seen.
    """
    original = one.original
    if not one.triple.broken or original is None:
        return
    inline = one.triple.inline
    for call, before in zip(one.triple.calls, original.calls, strict=True):
        if call is inline or not _surely_exceeded(before):
            continue
        threshold = call.settings.get("threshold_tokens")
        is_lowest = call is one.triple.lowest
        yield Failing(
            kind=one.triple.broken,
            call=call,
            threshold=threshold if isinstance(threshold, int) else 1,
            server=None,
            original=original.lowest,
            known=known_records(inline, original.lowest),
            alive=not died(call),
            events=one.triple.events or () if is_lowest else (),
            first=not any(t.broken for t in one.earlier),
            events_observable=observable,
            new_entries=(),
            steps=one.steps(call),
            events_known=is_lowest and one.triple.events is not None,
        )


def recovered_in(explored: Explored) -> Iterator[Recovered]:
    """The calls of an exploration after writing works again."""
    for one in in_sequence(explored.smallest + explored.triples):
        yield from recovered_of(one)


def recovered_of(one: TripleInSequence) -> Iterator[Recovered]:
    """The call after the folder was mended, of each server that offloaded this call before the folder was broken."""
    original = one.original
    if original is None or not any(i.kind == MENDED for i in one.triple.before):
        return
    for call, before in zip(one.triple.calls, original.calls, strict=True):
        if _surely_exceeded(before):
            yield Recovered(call, one.steps(call))


def explored_sweeps(explored: Explored) -> Iterator[tuple[Sweep, AfterSteps]]:
    """The cleanups of an exploration, each with the subject by which it is reproduced."""
    for one in in_sequence(explored.smallest + explored.triples):
        if (sweep := one.triple.sweep) is not None:
            yield sweep, AfterSteps(sweep.call, sweep, one.steps(one.triple.lowest))


def _is_same_call(one: Triple, other: Triple) -> bool:
    a, b = one.inline, other.inline
    return (a.operation, a.arguments, len(a.before)) == (b.operation, b.arguments, len(b.before))


def _is_offloaded(triple: Triple) -> bool:
    return not triple.broken and triple.lowest.outcome == "offloaded"


def _surely_exceeded(call: Call) -> bool:
    """Return whether a call was offloaded and surely will be again: its E exceeded the threshold by more than E may
    change between identical calls. If E or the threshold is unknown, it is enough that the call was offloaded."""
    threshold, estimate = call.settings.get("threshold_tokens"), call.estimate
    if call.outcome != "offloaded" or not isinstance(threshold, int) or estimate is None:
        return call.outcome == "offloaded"
    return estimate - threshold > DRIFT * threshold
