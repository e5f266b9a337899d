"""Checks as trials of mutants, without any server: each check on each recording, or all that matter on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.judging.check import Check, checks, judge
from lro_conformance.judging.derived import Evidence, captured
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.judging.verdicts import Verdict
from lro_spec.catalogue import catalogue
from tests.servers.faults.catalogue import faults
from tests.tools.mutation.mutants import Mutant
from tests.tools.mutation.recordings import Recording
from tests.tools.mutation.trying import ERROR, VERDICT, WORDS

BLAME = (Verdict.WARN.label, Verdict.FAIL.label)


class Judging:
    """The checks of the suite, run on recordings."""

    def __init__(self, recordings: Sequence[Recording], module: str | None = None) -> None:
        """With *module*, only its checks."""
        self._recordings: Mapping[str, Recording] = {r.server: r for r in recordings}
        self._checks: Mapping[str, Check] = {c.name: c for c in checks() if module in (None, c.function.__module__)}
        self._trials = [f"{name} {r.server}" for r in recordings for name, c in self._checks.items() if _has(r, c)]
        # Scripts are not looked at here, and to write them takes more time than to judge.
        reproducer_of.register(Call, _nothing)

    def trials(self) -> Sequence[str]:
        """``CHECK SERVER`` for each recording that has the check's evidence."""
        return self._trials

    def measure(self, trial: str) -> Any:
        """The verdict, the number of subjects, expectation, observation, and evidence."""
        name, _, server = trial.partition(" ")
        recording = self._recordings[server]
        return self._result(self._checks[name], recording, Evidence(recording.edition, recording.evidence))

    @staticmethod
    def _result(check: Check, recording: Recording, evidence: Evidence) -> Any:
        result = judge(check, evidence.select(check.needs), edition=recording.edition)
        shown = sha256(f"{result.location}\0{result.evidence}".encode("utf-8", "replace")).hexdigest()
        return result.verdict.label, result.subjects, result.expected, result.observed, shown

    def difference(self, before: Any, after: Any) -> str | None:
        """The difference: the verdict, or only the wording."""
        if before == after:
            return None
        if before[0] == after[0]:
            return WORDS
        return ERROR if after[0] == Verdict.ERROR.label else VERDICT

    def rank(self, trial: str, mutant: Mutant, before: Any) -> int:
        """Order of trials: faults that fail their own requirement, other failures, passes."""
        name, _, server = trial.partition(" ")
        own = self._recordings[server].requirement == self._checks[name].requirement
        return 0 if own else 1 if before[0] in BLAME else 2 if before[0] == Verdict.PASS.label else 3


class JudgingServers(Judging):
    """Recordings judged as wholes: a fault by the checks of the requirements that it breaks, a sound server by all.

    For mutants of what checks judge by: what is derived of evidence is computed once for all checks of a recording.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        super().__init__(recordings)
        self._of: dict[str, list[str]] = {}
        for trial in self._trials:
            name, _, server = trial.partition(" ")
            fault = faults().get(server)
            if fault is None or self._checks[name].requirement in (fault.requirement, *fault.also):
                self._of.setdefault(server, []).append(name)

    def trials(self) -> Sequence[str]:
        """The names of the servers."""
        return list(self._of)

    def measure(self, trial: str) -> Any:
        """What `Judging.measure` returns for each check, by its name."""
        recording = self._recordings[trial]
        evidence = Evidence(recording.edition, recording.evidence)
        return {name: self._result(self._checks[name], recording, evidence) for name in self._of[trial]}

    def difference(self, before: Any, after: Any) -> str | None:
        """The worst difference of any check."""
        found = {super(JudgingServers, self).difference(before[name], after[name]) for name in before}
        return next((one for one in (VERDICT, ERROR, WORDS) if one in found), None)

    def rank(self, trial: str, mutant: Mutant, before: Any) -> int:
        """Order of trials: faults, then sound servers."""
        return int(self._recordings[trial].requirement is None)


def _has(recording: Recording, check: Check) -> bool:
    """True if a recording's edition has the requirement of a check, and the recording has its evidence."""
    known = {r.id for r in catalogue(recording.edition)}
    return check.requirement in known and all(name in recording.evidence for name in captured(check.needs))


def _nothing(_: Call) -> str:
    return ""
