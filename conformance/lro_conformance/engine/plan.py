"""Choice of the checks and trials of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lro_conformance.capture.overall import OVERALL
from lro_conformance.judging.check import Check, checks, checks_of_edition
from lro_conformance.judging.derived import any_examines_all_trials, captured
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.profile import Profile
from lro_conformance.trials import Trial, closure
from lro_conformance.trials.survey import Survey

EXPLORING_TRIALS = ("explored", "sweeps")
"""The trials in which Hypothesis explores a server. A run that does not explore leaves them out. Checks that examine
all trials do not have to name these."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks of a run that belong to the edition of its profile, and the trials whose evidence they need."""

    checks: tuple[Check, ...]
    trials: tuple[Trial, ...]
    """The survey comes first. Each trial comes after the trials whose evidence it needs."""
    excluded: Mapping[str, NotApplicable | NotObserved]
    """Names of the trials that are not run, each with the reason: according to the profile, the server lacks the part
    that the trial tests, or the run does not explore."""

    @classmethod
    def of(
        cls,
        profile: Profile,
        *,
        only: Collection[str] | None,
        examples: int,
        other_editions: Sequence[str] = (),
        all_trials: bool = False,
    ) -> Plan:
        """The plan of a run. *other_editions* are further editions by which the run is judged; trials are chosen for
        these editions, too.

        *only* restricts the plan to the checks with these names or requirement ids. Unless *all_trials* is True, the
        plan has only the trials that these checks need. *examples* is the number of sequences to explore; if it is 0,
        `EXPLORING_TRIALS` are left out.
        """
        selected_checks = [c for c in checks() if only is None or c.name in only or c.requirement in only]
        served_checks = checks() if all_trials else selected_checks
        judged_checks = [
            c for edition in (profile.edition, *other_editions) for c in checks_of_edition(edition, served_checks)
        ]
        needed_names = captured(n for c in judged_checks for n in (*c.needs, *c.calls_of))
        explorer = (
            ("explored",) if examples and any_examines_all_trials(n for c in judged_checks for n in c.needs) else ()
        )
        unexplored = {} if examples else dict.fromkeys(EXPLORING_TRIALS, NotObserved("this run did not explore"))
        trials = closure(["survey", *(n for n in needed_names if n != OVERALL and n not in unexplored), *explorer])
        reasons = {t.name: NotApplicable(r) for t in trials if (r := t.reason_not_applicable(profile)) is not None}
        return cls(
            checks=tuple(checks_of_edition(profile.edition, selected_checks)),
            trials=tuple(t for t in trials if t.name not in reasons),
            excluded=unexplored | reasons,
        )

    @staticmethod
    def trials_for(check: Check) -> frozenset[str]:
        """Names of the trials that a check needs, directly or through other trials; `EXPLORING_TRIALS` are left out."""
        names = {n for n in captured((*check.needs, *check.calls_of)) if n != OVERALL and n not in EXPLORING_TRIALS}
        return frozenset(t.name for t in closure(["survey", *sorted(names)]))

    def unlisted(self, survey: object) -> dict[str, NotApplicable]:
        """Names of the trials of features that the server does not list, each with the reason.

        Empty if *survey* is not a `Survey`, but the exception that took its place.
        """
        reasons = {t.name: t.reason_not_listed(survey) for t in self.trials if isinstance(survey, Survey)}
        return {name: NotApplicable(reason) for name, reason in reasons.items() if reason is not None}
