"""The run: trials side by side, then the checks on what they found, then the report."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.overall import OVERALL, Overall
from lro_conformance.engine.interrupt import heard
from lro_conformance.engine.notes import no_verdict, notes, nothing_observed, start_reproducer
from lro_conformance.evidence.format import EvidenceError
from lro_conformance.evidence.projection import foreign_operations, restricted
from lro_conformance.evidence.recorder import masks_of
from lro_conformance.judging.check import Check, by_keyword, checks, held_by, judge
from lro_conformance.judging.derived import captured, compute, derived_evidence
from lro_conformance.judging.events import CheckJudged, Observer, RunFinished, RunStarted, TrialFinished, TrialStarted
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.results import CheckResult, Report, RequirementResult, ServerInfo, Span
from lro_conformance.judging.verdicts import LevelVerdict, Verdict, achieved, level_verdict, requirement_verdict
from lro_conformance.lab.lab import Lab
from lro_conformance.profile import Profile, ProfileError
from lro_conformance.properties.explore import EXAMPLES, Live
from lro_conformance.trials import Trial, closure
from lro_conformance.trials.recipes import Recipes, recipes_by
from lro_conformance.trials.survey import Survey
from lro_conformance.version import version
from lro_conformance.wire.workspace import Workspace
from lro_spec.catalogue import EXTENSIONS, Requirement, catalogue, requirement
from lro_spec.editions import EDITIONS
from lro_spec.editions import edition as edition_named

if TYPE_CHECKING:
    from lro_conformance.evidence.reader import Stored
    from lro_conformance.evidence.recorder import Recorder

LEVELS = (1, 2, 3)

LIVE = "live"
"""The evidence of property checks: servers that still run. It is there once the trials that hold those are done."""

GIVEN = (LIVE, OVERALL)
"""Evidence that no trial makes."""

HELD = ("survey", "inline", "edges", "defaults")
"""Trials whose servers property checks use, so that nothing else may be under way there."""

FIRST = ("cleanup", *HELD, "fallback", "recipes")
"""Trials that begin before others: one that waits for a TTL to pass, those that much else waits for, and long ones."""


def certify(
    profile: Profile,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    only: Collection[str] | None = None,
    examples: int = EXAMPLES,
    evidence: Path | None = None,
) -> Report:
    """Run the suite against the server of *profile*.

    *seed* replays the property checks of an earlier run; *jobs* is how many trials go on at a time (by default one for
    each core); *only* restricts the run to the checks with these names or of these requirement ids, and to the trials
    they need; *examples* is how many a property is tried with, 0 leaves property checks out; *evidence* is a folder to
    keep everything in that was observed.

    Never raises for what a server does: a server that cannot be observed makes a report whose ``failure`` says why.
    Raises `lro_conformance.evidence.format.EvidenceError` before the run where the folder cannot be used, and after it
    where not everything could be kept; the report is then its ``report``.
    """
    return _recorded(Session(profile, seed=seed, observer=observer, only=only, examples=examples), evidence, jobs)


def _recorded(session: Session, evidence: Path | None, jobs: int | None) -> Report:
    """Make the run, keeping it in a folder where one is given."""
    if evidence is not None:
        from lro_conformance.evidence.recorder import Recorder

        session.recorder = Recorder(evidence, session.masks)
    report = session.run(jobs or os.cpu_count() or 1)
    if session.recorder is not None and session.recorder.problem is not None:
        raise EvidenceError(session.recorder.problem, report)
    return report


def certify_by_all(
    profile: Profile,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    evidence: Path | None = None,
    examples: int = EXAMPLES,
) -> tuple[Report, ...]:
    """Run the suite once and judge what was seen by every edition: the profile's own first, which the claim is about.

    As `certify` otherwise.
    """
    others = tuple(name for name in EDITIONS if name != profile.edition)
    session = Session(profile, seed=seed, observer=observer, examples=examples, others=others)
    return (_recorded(session, evidence, jobs), *(session.by(name) for name in others))


def judge_again(stored: Stored, observer: Observer | None = None, *, edition: str | None = None) -> Report:
    """The report of a run that is kept as evidence, by the checks of this version; no server is started.

    Another *edition* than the one of the run is judged by what it can see of it.
    """
    other = edition is not None and edition != stored.profile.edition
    profile = replace(stored.profile, edition=edition) if other and edition is not None else stored.profile
    session = Session(profile, seed=stored.seed, observer=observer, only=stored.only, examples=stored.examples)
    return session.resume(stored)


class Session:
    """One run, from profile to report."""

    def __init__(
        self,
        profile: Profile,
        *,
        seed: int | None = None,
        observer: Observer | None = None,
        only: Collection[str] | None = None,
        examples: int = EXAMPLES,
        others: Sequence[str] = (),
    ) -> None:
        self.profile = profile
        self.others = others
        """Further editions that what is found will be judged by."""
        self.masks = masks_of(profile)
        self.recorder: Recorder | None = None
        self.only = only
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        watch: Observer = observer or (lambda event: None)
        self.tell: Observer = lambda event: watch(self.masks.value(event))
        self.examples = examples
        wanted = [c for c in checks() if only is None or c.name in only or c.requirement in only]
        wanted = [c for c in wanted if examples or LIVE not in c.needs]
        self.checks = held_by(profile.edition, wanted)
        looking = [c for edition in (profile.edition, *others) for c in held_by(edition, wanted)]
        needed = captured(n for c in looking for n in c.needs)
        made = closure(["survey", *(n for n in needed if n not in GIVEN)])
        reasons = {t.name: reason for t in made if (reason := t.unbound(profile)) is not None}
        self.trials = [t for t in made if t.name not in reasons]
        self.unbound = {name: NotApplicable(reason) for name, reason in reasons.items()}
        self.evidence: dict[str, Any] = {}
        self.derived: dict[str, Any] = {}
        self.results: dict[str, CheckResult] = {}
        self.info = ServerInfo("", "", tuple(profile.server.command), "")
        self.trouble: str | None = None
        """The first call that had no response, and why."""
        self.clock = time.monotonic()
        self.timeline: list[Span] = []
        self.report: Report | None = None
        """What came of it, once it has run."""

    def run(self, jobs: int) -> Report:
        """Make the trials, judge, and report."""
        started, self.clock = datetime.now(UTC), time.monotonic()
        self.tell(RunStarted(self.info.command, self.profile.edition, tuple(t.name for t in self.trials)))
        with Workspace() as run:
            lab = Lab(self.profile, run, self.tell, seed=self.seed, recorder=self.recorder, others=self.others)
            live = Live(lab, self.examples)
            try:
                self._experiment(lab, jobs, live)
            except BaseException:
                run.abort()  # nobody is waited for any more
                raise
            finally:
                live.close()
                lab.close()
            starts, self.trouble = run.starts, lab.ledger.trouble
            remarks = tuple(dict.fromkeys(lab.ledger.remarks))
            violations = tuple(lab.ledger.protocol_violations)
            self.evidence[OVERALL] = Overall(violations, starts, lab.ledger.first_violation, remarks)
        self._judge(final=True)
        report = self._report(started.isoformat(timespec="seconds"), time.monotonic() - self.clock, starts)
        self.report = report
        if self.recorder is not None:
            self._keep(self.recorder, report)
        self.tell(RunFinished(report))
        return report

    def _keep(self, recorder: Recorder, report: Report) -> None:
        from lro_conformance.evidence.recorder import Finished

        live = [self.masks.value(self.results[c.name]) for c in self.checks if LIVE in c.needs]
        found = {name: kept for name, kept in self.evidence.items() if name != LIVE}
        recorder.finish(Finished(self.profile, found, live, self.examples, self.only, self.trouble, report))

    def resume(self, stored: Stored) -> Report:
        """Judge what an earlier run found, and report on it."""
        self.tell(RunStarted(self.info.command, self.profile.edition, ()))
        missing = NotObserved(f"not tried when this evidence was recorded, by lro-spec {stored.version}")
        recorded = [*(t.name for t in self.trials), OVERALL]
        evidence = {name: stored.trials.get(name, missing) for name in recorded} | {LIVE: missing} | self.unbound
        self.trouble, self.info = stored.trouble, stored.server
        self._take_over(evidence, stored.properties, stored.profile.edition)
        self._judge(final=True)
        self.timeline = list(stored.timeline)
        report = self._report(stored.started_at, stored.duration_s, stored.starts)
        self.tell(RunFinished(report))
        return report

    def by(self, edition: str) -> Report:
        """The report of this run by another edition. The claim is about the first, so there is none here."""
        run = self.report
        if run is None:
            raise RuntimeError("there is nothing to judge before the run")
        profile = replace(self.profile, edition=edition, level=None)
        other = Session(profile, seed=self.seed, only=self.only, examples=self.examples)
        other.masks, other.trouble, other.timeline, other.info = self.masks, self.trouble, self.timeline, self.info
        properties = {c.name: self.results[c.name] for c in self.checks if LIVE in c.needs}
        missing = NotObserved("not tried by this edition")
        other._take_over({**self.evidence, LIVE: missing}, properties, self.profile.edition)
        other._judge(final=True)
        return other._report(run.started_at, run.duration_s, run.starts)

    def _take_over(self, evidence: dict[str, Any], properties: Mapping[str, CheckResult], recorded: str) -> None:
        """Take what a run has found that was made with the edition *recorded* in mind."""
        text = edition_named(self.profile.edition)
        survey = evidence["survey"]
        self.evidence = evidence
        if recorded != text.name:
            self.evidence = restricted(evidence, text)
            known = evidence.get("recipes")
            if isinstance(survey, Survey) and isinstance(known, Recipes):
                tried = recipes_by(text.name, self.evidence["survey"])
                self.evidence["recipes"] = replace(tried, real={**tried.real, **known.real})
            others = foreign_operations(survey, text)
            live = [c for c in self.checks if LIVE in c.needs and (c.by_edition or others)]
            # What was tried with another edition's recipes and names, or with its operations, tells nothing here.
            self.checks = [c for c in self.checks if c not in live]
        if isinstance(survey, Survey):
            self.info = _server_info(survey.server_info, survey.protocol, self.info.command)
        if self._gate() is None:  # what comes before it comes of no live server
            for one in (c for c in self.checks if c.name in properties):
                self.results[one.name] = by_keyword(properties[one.name], text.name)

    # trials

    def _experiment(self, lab: Lab, jobs: int, live: Live) -> None:
        """Make every trial as soon as what it builds on is there, the survey first; judge as evidence comes."""
        self.evidence |= self.unbound
        with heard():
            self.evidence["survey"] = self._make(lab, self.trials[0])
        survey = self.evidence["survey"]
        self.info = _server_info(*lab.launcher.handshakes.introduced, self.info.command)
        if not isinstance(survey, Survey):
            return
        # Extensions do not ask for LRO itself.
        reasons = {t.name: reason for t in self.trials[1:] if (reason := t.unlisted(survey)) is not None}
        self.evidence |= {name: NotApplicable(reason) for name, reason in reasons.items()}
        bound = [t for t in self.trials[1:] if t.name not in reasons and (survey.implemented or t.asks_no_lro)]
        waiting = sorted(bound, key=lambda t: FIRST.index(t.name) if t.name in FIRST else len(FIRST))
        under_way: dict[Future[Any], Trial] = {}
        at_once = jobs + 1  # the cleanup trial mostly waits for a TTL to pass
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="trial")
        try:
            with heard():
                while waiting or under_way:
                    ready = [t for t in waiting if all(n in self.evidence for n in t.needs)]
                    for one in ready[: at_once + 1 - len(under_way)]:  # the last begins when any ends, without us
                        waiting.remove(one)
                        under_way[pool.submit(self._make, lab, one)] = one
                    rest = [*waiting, *under_way.values()]
                    held = any(t.name in HELD for t in rest) if lab.can_set("output_dir") else rest
                    if survey.implemented and not held:
                        self.evidence[LIVE] = live  # property checks go on while the other trials do
                    self._judge(beside=under_way)
                    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        self.evidence[under_way.pop(future).name] = future.result()
                if survey.implemented:
                    self.evidence[LIVE] = live
                self._judge()
        except BaseException:
            lab.workspace.abort()  # or the trials under way would be waited for
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _make(self, lab: Lab, one: Trial) -> object:
        """A trial's evidence, or the exception that stands for it."""
        lacking = next((self.evidence[n] for n in one.needs if isinstance(self.evidence[n], BaseException)), None)
        if lacking is not None:
            return lacking
        self.tell(TrialStarted(one.name, one.title))
        clock = time.monotonic()
        problem: BaseException | None = None
        try:
            return one.function(lab, *(self.evidence[n] for n in one.needs))
        except ProfileError:
            raise  # the user's to put right
        except Exception as raised:
            problem = raised
            return raised
        finally:
            text = None if problem is None else str(problem)
            seconds = time.monotonic() - clock
            self.timeline.append(Span(one.name, one.title, "trial", clock - self.clock, seconds, text))
            self.tell(TrialFinished(one.name, seconds, text))

    # judgement

    def _judge(self, *, final: bool = False, beside: Collection[Future[Any]] = ()) -> None:
        """Judge every check whose evidence is there; in the end also those whose evidence will never be.

        Property checks take their time: one after the other, always in the same order, so that a seed replays, and
        none once a trial *beside* them is done, for others may wait for it.
        """
        turn = True
        for one in self.checks:
            live = LIVE in one.needs
            if one.name in self.results:
                continue
            if not final and (not self._is_there(one.needs) or (live and not turn)):
                turn = turn and not live
                continue
            clock = time.monotonic()
            result = judge(one, self._evidence_for(one), edition=self.profile.edition)
            if live:  # all others take no time worth telling
                turn = not any(future.done() for future in beside)
                title = requirement(one.requirement, self.profile.edition).title
                self.timeline.append(Span(one.name, title, "check", clock - self.clock, time.monotonic() - clock))
            self.results[one.name] = result
            self.tell(CheckJudged(result))

    def _is_there(self, names: Collection[str]) -> bool:
        """Whether evidence is complete: what is derived from all trials waits for all of them."""
        derived = [one for n in names if (one := derived_evidence(n)) is not None]
        if any(one.by_all for one in derived) and any(t.name not in self.evidence for t in self.trials):
            return False
        return all(n in self.evidence for n in captured(names))

    def _had(self, names: Collection[str]) -> dict[str, Any]:
        """The evidence of these names, derived where it has to be."""
        text = edition_named(self.profile.edition)
        return {n: compute(n, self.evidence, text, self.derived) for n in names}

    def _evidence_for(self, one: Check) -> Mapping[str, Any]:
        gate, asked = self._gate(), requirement(one.requirement, self.profile.edition)
        own = asked.group in ("implemented", *EXTENSIONS) and isinstance(self.evidence["survey"], Survey)
        if isinstance(gate, NotApplicable):  # what MCP asks of any server, and what decides no level, holds without LRO
            own = own or (asked.group == "protocol" and asked.level is None)
        if gate is None or (own and all(name in self.evidence for name in captured(one.needs))):
            return self._had(one.needs)
        return dict.fromkeys(one.needs, gate)

    def _gate(self) -> Exception | None:
        """What keeps all checks from a verdict; None when nothing does."""
        survey = self.evidence["survey"]
        if not isinstance(survey, Survey):
            return survey if isinstance(survey, Exception) else NotObserved("the server was not observed")
        if survey.implemented is None:
            return NotObserved(nothing_observed(survey))
        return None if survey.implemented else NotApplicable("the server does not implement LRO")

    # report

    def _report(self, started_at: str, duration_s: float, starts: int) -> Report:
        edition = self.profile.edition
        results = [self.results[c.name] for c in self.checks]
        judged = [self._requirement(r, [c for c in results if c.requirement == r.id]) for r in catalogue(edition)]
        binding = [(r.requirement, r.verdict) for r in judged if r.requirement.excluded is None]
        levels: dict[int, LevelVerdict] = {n: level_verdict(n, binding) for n in LEVELS}
        survey = self.evidence.get("survey")
        own = {
            group: requirement_verdict(r.verdict for r in judged if r.requirement.group == group).label
            for group in ("hardening", *EXTENSIONS)
        }
        failure = no_verdict(survey, self.trouble)
        report = Report(
            suite_version=version(),
            edition=edition,
            server=self.info,
            implemented=survey.implemented if isinstance(survey, Survey) else None,
            claimed=self.profile.level,
            levels=levels,
            achieved=achieved(levels),
            requirements=tuple(judged),
            seed=self.seed,
            started_at=started_at,
            duration_s=duration_s,
            notes=notes(self.evidence, None if failure else self.trouble),
            failure=failure,
            reproduce=start_reproducer(survey) if failure is not None else "",
            starts=starts,
            hardening=own["hardening"],
            extensions={group: own[group] for group in EXTENSIONS},
            timeline=tuple(sorted(self.timeline, key=lambda s: s.started_s)),
        )
        return self.masks.value(report)

    def _requirement(self, one: Requirement, results: list[CheckResult]) -> RequirementResult:
        if one.excluded is not None:
            return RequirementResult(one, Verdict.NOT_APPLICABLE, (), one.excluded)
        vouched = self.profile.attest.get(one.id)
        verdict = requirement_verdict([c.verdict for c in results], attested=vouched is not None)
        reason = vouched if verdict is Verdict.ATTESTED and vouched is not None else ""
        if verdict in (Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE):
            reason = "; ".join(dict.fromkeys(c.observed for c in results)) or "not part of this run"
        return RequirementResult(one, verdict, tuple(results), reason)


def _server_info(info: Mapping[str, Any], protocol: str | None, command: tuple[str, ...]) -> ServerInfo:
    name, version, spoken = (str(s or "")[:200] for s in (info.get("name"), info.get("version"), protocol))
    return ServerInfo(name, version, command, spoken)
