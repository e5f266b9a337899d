"""Judgement of the evidence of a run. Nothing here starts a server, so recorded evidence can be judged again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from typing import Any

from lro_conformance.analysis.coverage import coverage
from lro_conformance.analysis.decided_calls import decided_calls
from lro_conformance.analysis.documents import NOT_DOCUMENTS, prepare
from lro_conformance.capture.overall import OVERALL
from lro_conformance.capture.run import CapturedRun
from lro_conformance.engine.notes import no_verdict, notes, nothing_observed, start_reproducer
from lro_conformance.engine.plan import EXPLORING_TRIALS, Plan
from lro_conformance.evidence.edition_filter import restricted
from lro_conformance.evidence.reader import Stored
from lro_conformance.judging.check import Check, judge, reason_not_bound
from lro_conformance.judging.derived import Evidence, any_examines_all_trials, captured, depends_on
from lro_conformance.judging.events import CheckJudged, Observer, RunFinished, RunStarted, redacting
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.results import UNSELECTED, CheckResult, Report, RequirementResult
from lro_conformance.judging.verdicts import LevelVerdict, Verdict, achieved, level_verdict, requirement_verdict
from lro_conformance.profile import Profile
from lro_conformance.profile.secrets import masks_of
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.survey import Survey
from lro_conformance.version import version
from lro_conformance.wire.shortage import Shortage
from lro_spec.catalogue import EXTENSIONS, Requirement, catalogue, requirement
from lro_spec.editions import edition as edition_named
from lro_spec.validation.recipes import RecipeJudge

LEVELS = (1, 2, 3)

_OBSERVED_LABELS = ("pass", "warn", "fail")
"""Labels of verdicts that are given only if something was observed."""


class Judgement:
    """Verdicts on the evidence of one run, by the edition of its profile."""

    def __init__(
        self,
        profile: Profile,
        checks: Sequence[Check],
        evidence: Evidence,
        observer: Observer = lambda event: None,
    ) -> None:
        self._profile = profile
        self._checks = checks
        self._evidence = evidence
        self._observer = observer
        self._results: dict[str, CheckResult] = {}
        self._partial: dict[frozenset[str], Evidence] = {}
        self._judged_early: set[str] = set()
        self._failed_requirement: str | None = None
        self._shortage = ""
        self._judging = self._judge_each()
        self._preparation: Generator[bool] = self._prepare()

    def prepare(self) -> bool:
        """Validate one captured document, or run its recipes, in advance, so that less is left to do after the run.

        Returns False if nothing is left to prepare in the evidence that has been captured so far.
        """
        return next(self._preparation)

    def _prepare(self) -> Generator[bool]:
        if not any(depends_on(check.needs, "documents") for check in self._checks):
            yield from repeat(False)
        prepared: set[str] = set()
        with RecipeJudge(fallback=True) as recipe_judge:
            judge = recipe_judge if any(depends_on(check.needs, "recipes") for check in self._checks) else None
            while True:
                survey, edition = self._evidence.captured.get("survey"), edition_named(self._profile.edition)
                unprepared = [name for name in self._evidence.captured if name not in prepared]
                if isinstance(survey, Survey) and survey.offloaded:
                    details = self._evidence.select(["details"])["details"]
                    for name in (n for n in unprepared if n not in NOT_DOCUMENTS):
                        with suppress(Exception):  # raised again, and reported, when all evidence is judged
                            for _ in prepare(survey, details, self._evidence.captured[name], edition, judge):
                                yield True
                prepared.update(unprepared)
                yield False

    def advance(self) -> bool:
        """Judge one of the checks whose evidence has been captured. Returns False if there is no such check yet."""
        return next(self._judging)

    def _judge_each(self) -> Iterator[bool]:
        while True:
            number_captured = len(self._evidence.captured)
            for check in self._checks:
                if check.name not in self._results and self._evidence.has(check.needs):
                    self._judge(check)
                    yield True
            # Until more evidence is captured, no other check can be judged.
            while len(self._evidence.captured) == number_captured:
                yield False

    def find_failure(self) -> str | None:
        """The id of a MUST that counts towards a level and fails by the evidence captured so far; None if there is
        none.

        Judges the checks whose evidence has been captured, until one fails. A check that examines all trials is judged
        early, by the evidence of only those trials that it needs by itself (`Plan.trials_for`).
        """
        while self._failed_requirement is None and self.advance():
            pass
        waiting = (c for c in self._checks if c.name not in self._results and any_examines_all_trials(c.needs))
        for check in waiting if self._reason_for_no_verdict() is None else ():
            needed = Plan.trials_for(check)
            if self._failed_requirement is not None:
                break
            if check.name not in self._judged_early and needed <= self._evidence.captured.keys():
                self._judged_early.add(check.name)
                with suppress(Shortage):  # raised again, and reported, when all evidence is judged
                    self._remember_failure(self._judged_by(needed, check))
        return self._failed_requirement

    def _remember_failure(self, result: CheckResult | None) -> None:
        """Remember the requirement of the first failed check whose requirement is a MUST that counts towards a
        level."""
        if self._failed_requirement is None and result is not None and result.verdict is Verdict.FAIL:
            is_of_level = requirement(result.requirement, self._profile.edition).level is not None
            self._failed_requirement = result.requirement if is_of_level else None

    def _judged_by(self, names: frozenset[str], check: Check) -> CheckResult | None:
        """The result of a check by the evidence of these trials alone; None if the check needs other trials."""
        if names not in self._partial:
            selected = {n: e for n, e in self._evidence.captured.items() if n in names or n == OVERALL}
            self._partial[names] = Evidence(self._profile.edition, selected)
        evidence = self._partial[names]
        if not set(captured(check.needs)) <= evidence.captured.keys():
            return None
        return judge(check, evidence.select(check.needs), edition=self._profile.edition)

    def report(self, run: CapturedRun) -> Report:
        """Judge the remaining checks and make the report, once all evidence of the *run* has been captured."""
        self._preparation.close()
        for check in self._checks:
            if check.name not in self._results:
                self._judge(check)
        self._mark_failures_shown_elsewhere()
        if run.incomplete:
            self._exclude_what_does_not_apply()
        return self._report(run)

    def _mark_failures_shown_elsewhere(self) -> None:
        """Mark failures that a run of the check alone would not show, because only further trials, such as the
        explorer, show them."""
        self._partial.clear()  # it was filled before all evidence was captured
        for check in self._checks:
            result = self._results[check.name]
            needed = set(captured(check.needs))
            if result.verdict is not Verdict.FAIL or not (
                any_examines_all_trials(check.needs) or needed & set(EXPLORING_TRIALS)
            ):
                continue
            result_alone = self._judged_by(Plan.trials_for(check), check)
            elsewhere = result_alone is None or result_alone.verdict is not Verdict.FAIL
            self._results[check.name] = replace(result, elsewhere=elsewhere)

    def _exclude_what_does_not_apply(self) -> None:
        """Change the verdict of a check from not-observed to not-applicable if the evidence of an incomplete run shows
        that the check does not apply."""
        for check in self._checks if self._reason_for_no_verdict() is None else ():
            if self._results[check.name].verdict is Verdict.NOT_OBSERVED:
                reason = reason_not_bound(check, self._evidence_for(check), edition=self._profile.edition)
                if reason is not None:
                    result = CheckResult(
                        check.name, check.requirement, Verdict.NOT_APPLICABLE, 0, check.expectation, reason
                    )
                    self._results[check.name] = result

    def _judge(self, check: Check) -> None:
        try:
            result = judge(check, self._evidence_for(check), edition=self._profile.edition)
        except Shortage as lack:
            self._shortage = str(lack)
            result = CheckResult(check.name, check.requirement, Verdict.NOT_OBSERVED, 0, check.expectation, str(lack))
        self._results[check.name] = result
        self._remember_failure(result)
        self._observer(CheckJudged(result))

    def _evidence_for(self, check: Check) -> Mapping[str, Any]:
        """The evidence that a check needs. If the check cannot have a verdict, the reason takes the place of each piece
        of evidence."""
        reason, bound = self._reason_for_no_verdict(), requirement(check.requirement, self._profile.edition)
        survey = self._evidence.captured["survey"]
        is_exempt = bound.group in ("implemented", *EXTENSIONS) and isinstance(survey, Survey)
        if isinstance(reason, NotApplicable):  # requirements of MCP outside the levels also bind servers without LRO
            is_exempt = is_exempt or (bound.group == "protocol" and bound.level is None)
        if reason is None or (is_exempt and all(name in self._evidence.captured for name in captured(check.needs))):
            return self._evidence.select(check.needs)
        return dict.fromkeys(check.needs, reason)

    def _reason_for_no_verdict(self) -> Exception | None:
        """The reason why checks, apart from the exceptions in `_evidence_for`, cannot have a verdict; None if they can
        have one."""
        survey = self._evidence.captured["survey"]
        if not isinstance(survey, Survey):
            return survey if isinstance(survey, Exception) else NotObserved("the server was not observed")
        if survey.implemented is None:
            return NotObserved(nothing_observed(survey))
        return None if survey.implemented else NotApplicable("the server does not implement LRO")

    def _report(self, run: CapturedRun) -> Report:
        edition = self._profile.edition
        results = [self._results[c.name] for c in self._checks]
        judged = [
            self._requirement_result(r, [c for c in results if c.requirement == r.id]) for r in catalogue(edition)
        ]
        verdicts = [(r.requirement, r.verdict) for r in judged]
        levels: dict[int, LevelVerdict] = {n: level_verdict(n, verdicts) for n in LEVELS}
        if run.incomplete:
            levels = {n: "failed" if found == "failed" else "unproved" for n, found in levels.items()}
        survey = self._evidence.captured["survey"]
        groups = {
            group: requirement_verdict(r.verdict for r in judged if r.requirement.group == group).label
            for group in ("hardening", *EXTENSIONS)
        }
        ended_early = bool(run.incomplete) and not isinstance(survey, Survey)
        failure = run.incomplete if ended_early else no_verdict(survey, run.trouble)
        unobserved = (r for r in judged if r.verdict is Verdict.NOT_OBSERVED and r.checks)
        observed_all = all(r.requirement.level is None for r in unobserved)
        remarks = notes(self._evidence, None if failure else run.trouble, observed_all=observed_all)
        if shortage := self._shortage or run.shortage:
            failure = shortage
        elif failure is not None and any(groups[g] in _OBSERVED_LABELS for g in EXTENSIONS):  # as for a proxy
            remarks, failure = (*remarks, *failure.splitlines()), None
        captured_evidence = self._evidence.captured
        explored = captured_evidence.get("explored")
        default_threshold = edition_named(edition).default_threshold_tokens
        return Report(
            suite_version=version(),
            edition=edition,
            server=run.server,
            implemented=survey.implemented if isinstance(survey, Survey) else None,
            claimed=self._profile.level,
            levels=levels,
            achieved=achieved(levels),
            requirements=tuple(judged),
            seed=run.seed,
            started_at=run.started_at,
            duration_s=run.duration_s,
            notes=remarks,
            failure=failure,
            reproduce=start_reproducer(survey) if failure is not None else "",
            starts=run.starts,
            hardening=groups["hardening"],
            extensions={group: groups[group] for group in EXTENSIONS},
            timeline=tuple(sorted(run.timeline, key=lambda s: s.started_s)),
            decided=decided_calls(captured_evidence.get("edges"), captured_evidence.get("defaults"), default_threshold),
            incomplete=run.incomplete,
            all_experiments=_made_further_trials(run),
            coverage=coverage(explored) if isinstance(explored, Explored) else None,
        )

    def _requirement_result(self, required: Requirement, results: list[CheckResult]) -> RequirementResult:
        if required.excluded is not None:
            return RequirementResult(required, Verdict.NOT_JUDGED, (), required.excluded)
        attested = self._profile.attest.get(required.id)
        verdict = requirement_verdict([c.verdict for c in results], attested=attested is not None)
        if verdict is Verdict.PASS and any(c.hindered for c in results):
            verdict = Verdict.NOT_OBSERVED
        reason = attested if verdict is Verdict.ATTESTED and attested is not None else ""
        if verdict in (Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE):
            reasons = [c for c in results if c.hindered] or results
            reason = "; ".join(dict.fromkeys(c.observed for c in reasons)) or UNSELECTED
        return RequirementResult(required, verdict, tuple(results), reason)


def _made_further_trials(run: CapturedRun) -> bool:
    """True if a run that was restricted to some checks also made trials that these checks do not need."""
    if run.only is None:
        return False
    planned = Plan.of(run.profile, only=run.only, examples=run.examples)
    return not run.trials.keys() <= {*(t.name for t in planned.trials), *planned.excluded, OVERALL}


def judge_again(stored: Stored, observer: Observer | None = None, *, edition: str | None = None) -> Report:
    """The report on recorded evidence, by the checks of this version.

    If *edition* differs from the edition of the run, only the evidence that applies to *edition* is judged.
    """
    profile = stored.profile if edition is None else replace(stored.profile, edition=edition)
    masks = masks_of(profile)
    redacting_observer = redacting(observer, masks)
    redacting_observer(RunStarted(stored.server.command, profile.edition, ()))
    missing = NotObserved(f"not tried when this evidence was recorded, by lro-spec {stored.version}")
    report = judge_run(stored, profile, missing=missing, observer=redacting_observer)
    redacting_observer(RunFinished(report))
    return masks.value(report)


def judge_run(
    run: CapturedRun,
    profile: Profile,
    *,
    missing: NotObserved | None = None,
    observer: Observer = lambda event: None,
) -> Report:
    """The report on a captured run by the edition of *profile*, which may differ from the edition of the run.

    *missing* takes the place of the evidence of trials that an earlier version did not make.
    """
    plan = Plan.of(profile, only=run.only, examples=run.examples)
    evidence = dict(run.trials)
    if missing is not None:
        evidence = {name: run.trials.get(name, missing) for name in (*(t.name for t in plan.trials), OVERALL)}
        evidence |= {**plan.excluded, **plan.unlisted(evidence["survey"])}
    if run.profile.edition != profile.edition:
        evidence = restricted(evidence, edition_named(profile.edition))
    return Judgement(profile, plan.checks, Evidence(profile.edition, evidence), observer).report(run)
