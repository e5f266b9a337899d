"""Choice of the checks and trials of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lro_conformance.capture.overall import OVERALL
from lro_conformance.judging.check import Check, checks, checks_of_edition
from lro_conformance.judging.derived import captured, examines_all
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.profile import Profile
from lro_conformance.trials import Trial, closure
from lro_conformance.trials.survey import Survey

EXPLORING_TRIALS = ("explored", "sweeps")
"""Trials that explore; they are left out of a run that does not explore. Checks that examine all trials need not name
them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks of a run that belong to the edition of its profile, and the trials whose evidence they need."""

    checks: tuple[Check, ...]
    trials: tuple[Trial, ...]
    """The survey first; each trial comes after those whose evidence it needs."""
    excluded: Mapping[str, NotApplicable | NotObserved]
    """Trials that are not run, with the reason: by its profile, the server does not have the part that they test, or
    the run does not explore."""

    @classmethod
    def of(
        cls,
        profile: Profile,
        *,
        only: Collection[str] | None,
        examples: int,
        others: Sequence[str] = (),
        all_trials: bool = False,
    ) -> Plan:
        """The plan of a run. *others* are further editions by which it is judged: trials are chosen for them, too.

        *only* restricts the plan to the checks with these names or requirement ids and, unless *all_trials*, to the
        trials that these checks need. If *examples*, the number of sequences to explore, is 0, the exploring trials
        are left out.
        """
        wanted = [c for c in checks() if only is None or c.name in only or c.requirement in only]
        served = checks() if all_trials else wanted
        judged = [c for edition in (profile.edition, *others) for c in checks_of_edition(edition, served)]
        needed = captured(n for c in judged for n in (*c.needs, *c.calls_of))
        further = ("explored",) if examples and examines_all(n for c in judged for n in c.needs) else ()
        left_out = {} if examples else dict.fromkeys(EXPLORING_TRIALS, NotObserved("this run did not explore"))
        trials = closure(["survey", *(n for n in needed if n != OVERALL and n not in left_out), *further])
        reasons = {t.name: NotApplicable(r) for t in trials if (r := t.reason_not_applicable(profile)) is not None}
        return cls(
            checks=tuple(checks_of_edition(profile.edition, wanted)),
            trials=tuple(t for t in trials if t.name not in reasons),
            excluded=left_out | reasons,
        )

    @staticmethod
    def trials_for(check: Check) -> frozenset[str]:
        """Names of the trials that a check needs, directly or through other trials; exploring trials are left out."""
        names = {n for n in captured((*check.needs, *check.calls_of)) if n != OVERALL and n not in EXPLORING_TRIALS}
        return frozenset(t.name for t in closure(["survey", *sorted(names)]))

    def unlisted(self, survey: object) -> dict[str, NotApplicable]:
        """Trials of features that the server does not list, with the reason; empty if *survey* is the reason why there
        is no `Survey`."""
        found = {t.name: t.reason_not_listed(survey) for t in self.trials if isinstance(survey, Survey)}
        return {name: NotApplicable(reason) for name, reason in found.items() if reason is not None}
