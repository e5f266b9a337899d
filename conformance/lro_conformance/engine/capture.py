"""Capturing a run: concurrent trials on servers of the profile."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from lro_conformance.capture.overall import OVERALL, Overall
from lro_conformance.capture.run import CapturedRun
from lro_conformance.engine.clock import WallClock
from lro_conformance.engine.plan import Plan
from lro_conformance.judging.derived import Evidence
from lro_conformance.judging.events import Observer, RunStarted, TrialFinished, TrialStarted
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.results import ServerInfo, Span
from lro_conformance.lab.lab import Budget, Lab
from lro_conformance.lab.launcher import Recorder
from lro_conformance.profile import Profile, ProfileError
from lro_conformance.trials import Trial
from lro_conformance.trials.survey import Survey
from lro_conformance.wire.interrupt import interruptible
from lro_conformance.wire.shortage import RESERVE_BYTES, Shortage, lack_of_limits, lack_of_space, shortage_of
from lro_conformance.wire.workspace import Workspace

FIRST_TRIALS = ("inline", "edges", "defaults", "disabled", "control", "lasting", "explored", "cleanup", "fallback")
"""Trials that start first: the trials on which the explorer depends, the explorer itself (it takes longest), and other
slow trials."""

WATCH_INTERVAL_S = 0.25
"""Interval, in seconds, at which the remaining time, the free disk space and the wall clock are checked."""

MAX_ATTEMPTS = 4
"""Maximum number of attempts of a trial. It is repeated if the machine's clock was set during an attempt."""

DEFAULT_TIMEOUT_S = 600.0
"""Default time limit of a run, in seconds."""

DEFAULT_SEQUENCES = Budget().sequences
"""Number of sequences that the explorer tries by default."""


class Capture:
    """One run of the trials against live servers."""

    def __init__(
        self,
        profile: Profile,
        *,
        seed: int | None = None,
        only: Collection[str] | None = None,
        examples: int = DEFAULT_SEQUENCES,
        other_editions: Sequence[str] = (),
        observer: Observer = lambda event: None,
        recorder: Recorder | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        all_trials: bool = False,
    ) -> None:
        """*other_editions* are the further editions by which the evidence will be judged. For the other parameters see
        `run.certify`."""
        self.profile = profile
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        self.only = only
        self.examples = examples
        self.plan = Plan.of(profile, only=only, examples=examples, other_editions=other_editions, all_trials=all_trials)
        self.evidence = Evidence(profile.edition, self.plan.excluded, expected={t.name for t in self.plan.trials})
        self._other_editions = other_editions
        self._observer = observer
        self._recorder = recorder
        self._timeout_s = timeout_s
        self._incomplete = ""
        self._shortage = ""
        self._clock = time.monotonic()
        self._wall_clock = WallClock()
        self._timeline: list[Span] = []

    def run(
        self, jobs: int, meanwhile: Callable[[], bool] = bool, reason_to_end: Callable[[], str | None] = lambda: None
    ) -> CapturedRun:
        """Run all trials, up to *jobs* + 1 at a time. The additional one is allowed because the cleanup trial mostly
        waits for a TTL to pass.

        *meanwhile* does a small part of the work on `evidence`, and returns False if nothing can be done yet. It is
        called repeatedly in this thread, while trials run and after the last trial. Each part of the work has to be
        small, because no trial is started while *meanwhile* works. The run ends once *reason_to_end* returns a reason.
        """
        started, self._clock = datetime.now(UTC), time.monotonic()
        command = tuple(self.profile.server.command)
        self._observer(RunStarted(command, self.profile.edition, tuple(t.name for t in self.plan.trials)))
        if (lack := lack_of_space() or lack_of_limits()) is not None:
            raise Shortage(lack)
        workspace = Workspace()
        with interruptible(workspace.abort), workspace, self._within_limits(workspace):
            lab = Lab(
                self.profile,
                workspace,
                self._observer,
                seed=self.seed,
                budget=Budget(self.examples),
                recorder=self._recorder,
                other_editions=self._other_editions,
                trials=[t.name for t in self.plan.trials],
            )
            try:
                self._run_trials(lab, jobs, meanwhile, reason_to_end)
            except BaseException:
                workspace.abort()  # stop waiting for replies
                raise
            finally:
                lab.close()
            starts, ledger = workspace.starts, lab.ledger
            remarks = tuple(dict.fromkeys(ledger.remarks))
            violations = tuple(ledger.protocol_violations)
            violating_start, violated_at = ledger.first_violation
            if self._incomplete:  # servers that were killed may have left half a line on stdout, which is no violation
                for trial in self.plan.trials:
                    self.evidence.captured.setdefault(trial.name, NotObserved(self._incomplete))
                self.evidence.add(OVERALL, NotObserved(self._incomplete))
            else:
                self.evidence.add(OVERALL, Overall(violations, starts, violating_start, remarks, violated_at))
        return CapturedRun(
            profile=self.profile,
            seed=self.seed,
            examples=self.examples,
            only=self.only,
            started_at=started.isoformat(timespec="seconds"),
            duration_s=time.monotonic() - self._clock,
            starts=starts,
            server=ServerInfo.from_handshake(*lab.launcher.handshakes.introduced, command),
            timeline=tuple(self._timeline),
            trouble=ledger.first_unanswered_call,
            trials=dict(self.evidence.captured),
            incomplete=self._incomplete,
            shortage=self._shortage,
        )

    @contextmanager
    def _within_limits(self, workspace: Workspace) -> Generator[None]:
        """Abort the run at its time limit, or when the disk of the temporary folder is nearly full.

        The wall clock is watched, too.
        """
        run_ended = threading.Event()

        def watch() -> None:
            deadline = time.monotonic() + self._timeout_s
            while not run_ended.wait(min(WATCH_INTERVAL_S, max(0.0, deadline - time.monotonic()))):
                self._wall_clock.look()
                if (lack := lack_of_space(workspace.root, RESERVE_BYTES)) is not None:
                    self._end_early(workspace, lack)
                elif time.monotonic() < deadline:
                    continue
                else:
                    self.end(
                        workspace, f"the run ended at its time limit of {self._timeout_s:g} s (raise it with --timeout)"
                    )
                return

        watcher = threading.Thread(target=watch, name="limits", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            run_ended.set()
            watcher.join()

    def end(self, workspace: Workspace, reason: str) -> None:
        """End the run before its last experiment. The first *reason* is reported."""
        self._incomplete = self._incomplete or reason
        workspace.abort()

    def _end_early(self, workspace: Workspace, shortage: str) -> None:
        """End the run because the machine lacks a resource. The lack may also have caused the failures observed so
        far."""
        self._shortage = self._shortage or shortage
        self.end(workspace, shortage)

    def _run_trials(
        self, lab: Lab, jobs: int, meanwhile: Callable[[], bool], reason_to_end: Callable[[], str | None]
    ) -> None:
        """Run the survey first. Then run each trial as soon as the evidence that it needs has been captured."""
        self.evidence.add("survey", self._run_trial(lab, self.plan.trials[0]))
        survey = self.evidence.captured["survey"]
        if not isinstance(survey, Survey):
            return
        waiting = self._trials_after_survey(survey)
        under_way: dict[Future[Any], Trial] = {}
        workers = jobs + 1
        pool = ThreadPoolExecutor(workers, thread_name_prefix="trial")
        try:
            while waiting or under_way:
                if lab.workspace.aborted:
                    return
                if (reason := reason_to_end()) is not None:
                    self.end(lab.workspace, reason)
                    return
                pending = {t.name for t in (*waiting, *under_way.values())}
                ready = [
                    t
                    for t in waiting
                    if all(n in self.evidence.captured for n in t.needs) and pending.isdisjoint(t.after)
                ]
                # One trial more than there are workers is submitted, so that the pool starts it as soon as another
                # trial ends. This is not done while one of `FIRST_TRIALS` still waits, because these trials should
                # start first.
                one_more = not any(t.name in FIRST_TRIALS for t in waiting)
                for trial in ready[: workers + one_more - len(under_way)]:
                    waiting.remove(trial)
                    under_way[pool.submit(self._run_trial, lab, trial)] = trial
                while reason_to_end() is None and not any(f.done() for f in under_way) and meanwhile():
                    pass
                if reason_to_end() is not None:
                    continue
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    self.evidence.add(under_way.pop(future).name, future.result())
            while meanwhile():
                pass
        except BaseException:
            lab.workspace.abort()  # otherwise the pool waits for running trials
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _trials_after_survey(self, survey: Survey) -> list[Trial]:
        """The trials to run after the survey; those of `FIRST_TRIALS` come first.

        Trials of features that the server does not list are left out. Trials that need LRO are left out, too, unless
        the survey has shown that the server implements LRO.
        """
        for name, reason in self.plan.unlisted(survey).items():
            self.evidence.add(name, reason)
        wanted = [
            t
            for t in self.plan.trials[1:]
            if t.name not in self.evidence.captured and (survey.implemented or t.applies_without_lro)
        ]
        return sorted(wanted, key=lambda t: FIRST_TRIALS.index(t.name) if t.name in FIRST_TRIALS else len(FIRST_TRIALS))

    def _run_trial(self, lab: Lab, trial: Trial) -> object:
        """Run a trial, and repeat it if the clock was set meanwhile. Returns the trial's evidence, or the exception
        that takes the place of the evidence."""
        captured = self.evidence.captured
        missing = next((captured[n] for n in trial.needs if isinstance(captured[n], BaseException)), None)
        if missing is not None:
            return missing
        self._observer(TrialStarted(trial.name, trial.title))
        begun = time.monotonic()
        result: object = None
        for _ in range(MAX_ATTEMPTS):
            times_set = self._wall_clock.look()
            result = self._attempt(lab, trial)
            if self._wall_clock.look() == times_set or self._incomplete:
                break
        else:
            result = NotObserved(
                f"the clock of this machine was set during each of {MAX_ATTEMPTS} attempts, the last time by "
                f"{self._wall_clock.last_step_s:+,.0f} s: certify again when nothing sets the clock"
            )
        if self._incomplete:  # servers were killed meanwhile, so the trial's observations prove nothing
            result = NotObserved(self._incomplete)
        text = str(result) if isinstance(result, BaseException) else None
        seconds = time.monotonic() - begun
        self._timeline.append(Span(trial.name, trial.title, "trial", begun - self._clock, seconds, text))
        self._observer(TrialFinished(trial.name, seconds, text))
        return result

    def _attempt(self, lab: Lab, trial: Trial) -> object:
        """Run a trial once. Returns its evidence, or the exception that takes the place of the evidence. Raises
        `ProfileError`."""
        try:
            return trial.function(lab, *(self.evidence.captured[n] for n in trial.needs))
        except ProfileError:
            raise  # the user has to fix the profile
        except Exception as problem:
            if (shortage := shortage_of(problem)) is not None:
                self._end_early(lab.workspace, shortage)
            return problem
