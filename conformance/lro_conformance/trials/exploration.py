"""Observations of the explorer: calls of three servers in lockstep, and cleanups of files that it planted."""

from __future__ import annotations

from dataclasses import dataclass

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.capture.intervention import CLEANED_UP, Intervention
from lro_conformance.capture.records import Record, show
from lro_conformance.capture.reproduce import of_call, of_call_in_context, of_cleaning, of_series, of_steps
from lro_conformance.judging.subjects import evidence_of, hindrance_of, reproducer_of
from lro_spec.findings import Finding, Kind


@dataclass(frozen=True)
class Sweep(CallSubject):
    """One cleanup of files that the suite planted in an output folder."""

    call: Call
    """A call that wrote a file of the server's own, from which the planted files were copied."""
    trigger: int | None
    """The id of the request that triggered cleanup; None if none did."""
    aged: tuple[tuple[int, bool], ...] = ()
    """Ages in seconds of planted files that look offloaded, each with True if the file is gone."""
    named: tuple[tuple[str, bool], ...] = ()
    """Names of planted old files that do not look offloaded, each with True if the file is gone."""
    worked: bool = False
    """True if a control file, older than every TTL, is gone, which shows that cleanup has run."""
    own_gone: tuple[str, ...] = ()
    """Names of files that the server wrote in the same sequence of calls before the cleanup, and that are gone."""


@dataclass(frozen=True)
class Triple:
    """One call of three servers that were given the same requests."""

    lowest: Call
    """The call with the lowest threshold that the server accepts. The header of its file states E, the estimated number
    of tokens of the result."""
    inline: Call
    """The call with a threshold that no result reaches."""
    middle: Call | None = None
    """The call with a threshold near the results; None if there is no such server."""
    in_flight: bool = False
    """True if each server had other calls in flight at the same time."""
    stray: tuple[str, ...] = ()
    """Offloaded files that appeared in the output folders during the call and that no descriptor names."""
    begins: bool = True
    """True for the first call of a sequence. In evidence recorded by version 0.1.0, it is True for every call."""
    before: tuple[Intervention, ...] = ()
    """Interventions since the previous call."""
    broken: str = ""
    """The way in which the output folders of the servers that offload were broken; empty if they were not."""
    events: tuple[str, ...] | None = None
    """OffloadWriteFailed events of the server with the lowest threshold; None if they were not looked for."""
    sweep: Sweep | None = None
    """A cleanup of the output folder of the server with the lowest threshold, right after the call."""
    stored: int | None = None
    """Number of the memories of `Explored.memories` that had been stored before the call. None in evidence of versions
    that did not keep it; then all are taken as stored."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls; the call with the lowest threshold comes first."""
        return tuple(c for c in (self.lowest, self.middle, self.inline) if c is not None)

    @property
    def call(self) -> Call:
        """The call with the lowest threshold."""
        return self.lowest


@dataclass(frozen=True)
class LiveFinding:
    """A finding about a recipe, made by a program of this machine such as jq.

    The finding has to be kept in the evidence. Where the evidence is judged again, the program may be missing or may
    behave differently.
    """

    call: Call
    requirement: str
    pointer: str
    message: str
    expected: str
    observed: str

    @classmethod
    def of(cls, call: Call, finding: Finding) -> LiveFinding:
        """A finding of validation, in the form that evidence keeps."""
        return cls(call, finding.rule, finding.pointer, finding.message, finding.expected, finding.observed)

    @property
    def finding(self) -> Finding:
        """The finding as validation reports it."""
        return Finding(self.requirement, Kind.WRONG_OUTPUT, self.pointer, self.message, self.expected, self.observed)


@dataclass(frozen=True)
class AfterSteps(CallSubject):
    """A cleanup in a sequence of the explorer."""

    call: Call
    """The call whose file was copied to plant further files next to it."""
    sweep: Sweep
    steps: tuple[Call | Intervention, ...]
    """Calls and interventions before the call."""


@evidence_of.register
def _(after: AfterSteps) -> str:
    return f"{evidence_of(after.sweep)}\n{evidence_of(after.call)}"


@reproducer_of.register
def _(after: AfterSteps) -> str:
    sweep = after.sweep
    done = Intervention(CLEANED_UP, tuple(age for age, _ in sweep.aged), after.call.operation, sweep.trigger)
    return of_steps(after.call, after.steps, done)


@dataclass(frozen=True)
class Series(CallSubject):
    """Many equal calls of one server process."""

    call: Call
    """The last of these calls, or the first that was not offloaded."""
    calls: int
    """Number of `call` in the series, counted from 1."""
    repeated: tuple[str, ...] = ()
    """File names that more than one of the calls returned."""
    gone: tuple[str, ...] = ()
    """Names of files that could be read right after the call that wrote them, but were gone after the last call."""


@evidence_of.register
def _(series: Series) -> str:
    return f"call number {series.calls} in a series of equal calls\n{evidence_of(series.call)}"


@reproducer_of.register
def _(series: Series) -> str:
    return of_series(series.call, series.calls)


@dataclass(frozen=True)
class Explored:
    """All calls of one exploration."""

    smallest: tuple[Triple, ...] = ()
    """The calls of the shortest sequences that reproduce a violation; empty if none was found."""
    triples: tuple[Triple, ...] = ()
    """All other calls, in their order."""
    unsteady: tuple[Triple, ...] = ()
    """Calls that showed a violation, which did not recur when the same sequence was repeated."""
    threshold: int = 0
    """Threshold, in tokens, of the server that made the `middle` calls; 0 if there were only two servers."""
    sequences: int = 0
    """Number of sequences that were tried."""
    memories: tuple[Record, ...] = ()
    """The memories that the servers accepted."""
    refused: int = 0
    """Number of memories that at least one of the servers did not accept."""
    events_observable: bool = False
    """True when the profile names a channel on which events appear."""
    series: Series | None = None
    """Equal calls of one process, up to 250; None if they were not made."""
    live: tuple[LiveFinding, ...] = ()
    """Findings about recipes by the machine's jq."""


@dataclass(frozen=True)
class AfterStoring(CallSubject):
    """A call after the suite has stored memories."""

    call: Call
    memories: tuple[Record, ...]
    in_flight: bool = False
    steps: tuple[Call | Intervention, ...] = ()
    """Calls and interventions that have to precede the call if it is reproduced; empty if none have to."""


@hindrance_of.register
def _(after: AfterStoring) -> str | None:
    return hindrance_of(after.call)


@evidence_of.register
def _(after: AfterStoring) -> str:
    stored = "".join(f"memory: {show(m, 2000)}\n" for m in after.memories)
    return f"{stored}{evidence_of(after.call)}"


@reproducer_of.register
def _(after: AfterStoring) -> str:
    if after.steps:
        return of_steps(after.call, after.steps)
    return of_call_in_context(after.call) if after.in_flight else of_call(after.call)


@dataclass(frozen=True)
class Sweeps:
    """Cleanups of files of any age and of any name."""

    ttl_s: int
    sweeps: tuple[Sweep, ...] = ()
    smallest: tuple[Sweep, ...] = ()
    """The smallest cleanups with a violation; empty if none was found."""


@evidence_of.register
def _(sweep: Sweep) -> str:
    ages = f"ages planted together, in seconds: {[age for age, _ in sweep.aged]}"
    names = f"names planted together: {show([name for name, _ in sweep.named], 500)}"
    return names if sweep.named else ages


@reproducer_of.register
def _(sweep: Sweep) -> str:
    output = sweep.call.output_dir
    decoys = [] if output is None else [(output / name, "name") for name, _ in sweep.named]
    planted = [(age, sweep.call.operation) for age, _ in sweep.aged]
    return of_cleaning(sweep.call, sweep.trigger, planted=planted, decoys=decoys)
