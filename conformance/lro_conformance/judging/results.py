"""The report of one run: the model for all renderings.

Its JSON form is ``schemas/report.schema.json`` (format ``lro-report/1``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from lro_conformance.judging.verdicts import LevelVerdict, Verdict
from lro_spec.catalogue import Requirement

UNSELECTED = "not part of this run"
"""Reason of a requirement that was not observed because the run was restricted to others."""

UNEXPLAINED = "say why, or name an issue"
"""Reason that `lro certify --write-baseline` writes into a baseline as a placeholder."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check."""

    name: str
    """``module.function``, unique in a run."""
    requirement: str
    """The id of the requirement that the check judges."""
    verdict: Verdict
    subjects: int
    """Number of examined subjects, each of which could have failed the check."""
    expected: str
    observed: str
    evidence: str = ""
    """Evidence for a reader, such as the settings of the server and the JSON-RPC lines of the subject that failed."""
    erratum: bool = False
    """True if a *warn* shows a defect of the specification, not of the server."""
    reproduce: str = ""
    """A bash script that reproduces the failure. It sends the same lines to the same server."""
    location: str = ""
    """Line of the recorded evidence that shows the subject that failed (``servers/0003/transcript.jsonl:17``); empty if
    nothing is recorded."""
    place: str = ""
    """Place in a document and the kind of deviation, such as ``descriptor /summary/count: wrong-value``; failures with
    the same place are likely to have one cause."""
    elsewhere: bool = False
    """True if the failure shows only in further trials, such as the explorer, which a run of this check alone would not
    make."""
    hindered: bool = False
    """True if the check was not observed because the server reported that it could not write a result, although the
    suite had not made writing fail. In this case the requirement does not pass, even if all of its other checks do."""


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """One requirement with its verdict and the checks behind it."""

    requirement: Requirement
    verdict: Verdict
    checks: tuple[CheckResult, ...]
    reason: str = ""
    """The reason for a verdict that no check gave, which is the exclusion or the attestation. For a requirement that
    was not observed or does not apply, the reason for that. Otherwise empty."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The server that was judged: its name and version as it reports them, and the command that started it."""

    name: str
    version: str
    command: tuple[str, ...]
    protocol: str

    @classmethod
    def from_handshake(cls, info: Mapping[str, Any], protocol: str | None, command: tuple[str, ...]) -> ServerInfo:
        """The server, by the information in its handshake."""
        name, version, spoken = (str(s or "")[:200] for s in (info.get("name"), info.get("version"), protocol))
        return cls(name, version, command, spoken)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time in which one experiment ran."""

    name: str
    title: str
    kind: Literal["trial", "check"]
    started_s: float
    """The start of the span, in seconds from the beginning of the run."""
    duration_s: float
    problem: str | None = None
    """Reason why the experiment could not be completed; None if it was completed."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An entry of a baseline, and its state in this run."""

    check: str
    requirement: str
    """The id of the requirement that the check judges; empty if the check was not part of the run."""
    verdict: Verdict
    """The verdict that is accepted."""
    until: str
    """The last day on which it is accepted, as YYYY-MM-DD."""
    reason: str
    state: Literal["accepted", "expired", "stale", "open"]
    """The state in this run. It is ``accepted`` if the check has the accepted verdict, but ``expired`` if the run is on
    a day after `until`. It is ``stale`` if the check has a different verdict. It is ``open`` if there is no verdict to
    compare with: the check was not part of the run or had an *error*, or the run has no verdict (`Report.failure`)."""

    @property
    def explanation(self) -> str:
        """The reason. If it is only the placeholder, a request to complete the entry."""
        return "no reason is given yet: complete the entry" if self.reason == UNEXPLAINED else self.reason


@dataclass(frozen=True, slots=True)
class ExploredCalls:
    """Numbers of the explorer's calls of one kind, by outcome. The explorer is the part of the suite that tries random
    sequences of calls."""

    operation: str
    detail: str
    """The requested detail level; empty for the default."""
    records: str
    """Range that contains the number of records of each result: "0", "1", "2-10", "11-50" or "51+"."""
    inline: int = 0
    offloaded: int = 0
    failed: int = 0
    """Number of calls that were answered by an error, or were not answered at all."""
    unwritten: int = 0
    """Number of calls that were made while the server could not write to its output folder, whatever their outcome."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers that show how much the explorer has tried."""

    sequences: int
    memories: int
    """Number of memories that were stored."""
    threshold: int
    """The explorer uses three servers with different thresholds. This is the middle threshold, in tokens; 0 if there
    were only two servers."""
    in_flight: int
    """Number of calls that were made while the answers to other calls were pending. A call counts once, although each
    of the explorer's servers gets it."""
    broken: int = 0
    """Number of times that the explorer made an output folder unusable for the server."""
    sweeps: int = 0
    """Number of cleanups of folders with files of various ages."""
    restarts: int = 0
    """Number of restarts of a server."""
    series: int = 0
    """Number of identical calls that one process answered."""
    calls: tuple[ExploredCalls, ...] = ()


@dataclass(frozen=True, slots=True)
class DecidedCall:
    """A call whose estimate E is known, with the threshold that was in force and the server's decision."""

    operation: str
    detail: str
    """The requested detail level; empty for the default."""
    estimate: int
    """E: the server's estimate of the size of the result, in tokens."""
    threshold: int
    """The threshold in tokens. For a server that was started without a threshold, the edition's default threshold."""
    outcome: Literal["inline", "offloaded"]

    @property
    def is_right(self) -> bool:
        """True if the result was offloaded and E exceeds the threshold, or if the result was inline and E does not
        exceed the threshold."""
        return (self.estimate > self.threshold) == (self.outcome == "offloaded")


@dataclass(frozen=True, slots=True)
class Report:
    """The complete result of a run."""

    suite_version: str
    edition: str
    server: ServerInfo
    implemented: bool | None
    """True if the server offloads at all; None if that could not be observed."""
    claimed: int | None
    levels: Mapping[int, LevelVerdict]
    achieved: int
    requirements: tuple[RequirementResult, ...]
    seed: int
    started_at: str
    """ISO 8601, UTC."""
    duration_s: float
    notes: tuple[str, ...] = ()
    """Facts that are not part of a verdict: fields whose values change from call to call, widened tolerances, missing
    keys of the profile."""
    failure: str | None = None
    """The reason why the run has no verdict (exit code 3); None if it has a verdict. There are these reasons: the
    server could not be observed, the machine lacked something, the suite failed, the server's processes share their
    data, or the run ended before the survey. In the last case, `incomplete` has the same reason."""
    reproduce: str = ""
    """A bash command that starts the server that could not be observed; empty if none is known."""
    starts: int = 0
    """Number of times a server was started."""
    hardening: str = field(default="not-observed")
    """The verdict of the hardening group, which never decides a level."""
    extensions: Mapping[str, str] = field(default_factory=dict[str, str])
    """The verdict of each extension group, which never decides a level either."""
    baseline: tuple[Acceptance, ...] = ()
    """The entries of the baseline, each with its state in this run. They change the exit code, but no verdict."""
    timeline: tuple[Span, ...] = ()
    """Spans of the run, in the order in which they began; several may overlap."""
    coverage: Coverage | None = None
    """Coverage of the explorer; None if it was left out."""
    decided: tuple[DecidedCall, ...] = ()
    """The calls of the trials `edges` and `defaults` for which E is known."""
    incomplete: str = ""
    """The reason why the run ended before its last experiment, so that no level is proved; empty for a complete run."""
    all_experiments: bool = False
    """True if a run that was restricted to some requirements nevertheless made all experiments, also those that the
    checks of these requirements do not need. It does so because a failure of an earlier run had shown only in such an
    experiment."""

    def counts(self) -> dict[str, int]:
        """Number of requirements with each verdict, by its label."""
        counts = {v.label: 0 for v in Verdict}
        for result in self.requirements:
            counts[result.verdict.label] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, valid for ``schemas/report.schema.json``."""
        return {
            "format": "lro-report/1",
            "suite": {"name": "lro-spec", "version": self.suite_version},
            "edition": self.edition,
            "server": {
                "name": self.server.name,
                "version": self.server.version,
                "command": list(self.server.command),
                "protocol": self.server.protocol,
            },
            "implemented": self.implemented,
            "level": {
                "claimed": self.claimed,
                "achieved": self.achieved,
                **{str(n): v for n, v in self.levels.items()},
            },
            "hardening": self.hardening,
            **({"extensions": dict(self.extensions)} if self.extensions else {}),
            "requirements": [_requirement(r) for r in self.requirements],
            "counts": self.counts(),
            "notes": list(self.notes),
            "failure": self.failure,
            **({"incomplete": self.incomplete} if self.incomplete else {}),
            **({"all_experiments": True} if self.all_experiments else {}),
            **({"reproduce": self.reproduce} if self.reproduce else {}),
            "seed": self.seed,
            "server_starts": self.starts,
            "started_at": self.started_at,
            "duration_s": round(self.duration_s, 3),
            **({} if self.coverage is None else {"explored": _explored(self.coverage)}),
            **({"decided": [asdict(d) for d in self.decided]} if self.decided else {}),
            "baseline": [asdict(a) | {"verdict": a.verdict.label} for a in self.baseline],
            "timeline": [
                asdict(s) | {"started_s": round(s.started_s, 3), "duration_s": round(s.duration_s, 3)}
                for s in self.timeline
            ],
        }


def _explored(coverage: Coverage) -> dict[str, Any]:
    return asdict(coverage) | {"calls": [asdict(c) for c in coverage.calls]}


def _requirement(result: RequirementResult) -> dict[str, Any]:
    r = result.requirement
    return {
        "id": r.id,
        "title": r.title,
        "group": r.group,
        "keyword": r.keyword,
        "level": r.level,
        "verdict": result.verdict.label,
        "reason": result.reason,
        "checks": [
            {
                "name": c.name,
                "verdict": c.verdict.label,
                "subjects": c.subjects,
                "expected": c.expected,
                "observed": c.observed,
                "evidence": c.evidence,
                "erratum": c.erratum,
                **({"reproduce": c.reproduce} if c.reproduce else {}),
                **({"location": c.location} if c.location else {}),
                **({"place": c.place} if c.place else {}),
                **({"elsewhere": True} if c.elsewhere else {}),
                **({"hindered": True} if c.hindered else {}),
            }
            for c in result.checks
        ],
    }
