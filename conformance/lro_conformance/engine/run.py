"""A run against a live server: capture, then judgement. To judge recorded evidence, use `judgement.judge_again`."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lro_conformance.engine.capture import DEFAULT_SEQUENCES, DEFAULT_TIMEOUT_S, Capture
from lro_conformance.engine.judgement import Judgement, judge_run
from lro_conformance.evidence.format import EvidenceError
from lro_conformance.evidence.recorder import Recorder
from lro_conformance.judging.events import Observer, RunFinished, redacting
from lro_conformance.judging.results import Report
from lro_conformance.profile import Profile, ProfileError
from lro_conformance.profile.secrets import masks_of
from lro_spec.editions import EDITIONS


def certify(
    profile: Profile,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    only: Collection[str] | None = None,
    examples: int = DEFAULT_SEQUENCES,
    evidence: Path | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    fail_fast: bool = False,
    all_trials: bool = False,
) -> Report:
    """Run the suite against the server of *profile*.

    *seed* replays the explorer of an earlier run. *jobs* is the number of trials at a time (default: one per core); one
    more trial runs beside them, because the cleanup trial mostly waits. *only* restricts the run to checks with these
    names or requirement ids. Unless *all_trials* is True, it also restricts the run to the trials that these checks
    need. *examples* is the number of sequences that the explorer tries; 0 leaves the explorer out. *evidence* is a
    directory in which everything that was observed is recorded. The run ends after *timeout_s* seconds and reports what
    it has observed by then; with *fail_fast*, it ends once a MUST of a level has failed.

    Nothing that a server does raises an exception: if the server cannot be observed, ``failure`` of the report says
    why. Raises `lro_conformance.wire.shortage.Shortage` before the run if the machine lacks space or its limits are too
    low. Raises `ProfileError` for problems of the profile that only the server's list of tools reveals. Raises
    `lro_conformance.evidence.format.EvidenceError` before the run if the directory cannot be used, and after the run if
    something could not be recorded. In the second case, ``report`` of the exception is the report.
    """
    return _certify(profile, (), seed, jobs, observer, only, examples, evidence, timeout_s, fail_fast, all_trials)[0]


def certify_for_all_editions(
    profile: Profile,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    evidence: Path | None = None,
    examples: int = DEFAULT_SEQUENCES,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    fail_fast: bool = False,
) -> tuple[Report, ...]:
    """Run the suite once and judge the evidence by every edition.

    Returns a report for each edition. The report by the profile's edition comes first, and the claimed level counts
    only for that report. For the parameters and exceptions see `certify`.
    """
    other_editions = tuple(name for name in EDITIONS if name != profile.edition)
    return _certify(profile, other_editions, seed, jobs, observer, None, examples, evidence, timeout_s, fail_fast)


def _certify(
    profile: Profile,
    other_editions: Sequence[str],
    seed: int | None,
    jobs: int | None,
    observer: Observer | None,
    only: Collection[str] | None,
    examples: int,
    evidence: Path | None,
    timeout_s: float,
    fail_fast: bool,
    all_trials: bool = False,
) -> tuple[Report, ...]:
    masks = masks_of(profile)
    redacting_observer = redacting(observer, masks)
    recorder = None if evidence is None else Recorder(evidence, masks)
    capture = Capture(
        profile,
        seed=seed,
        only=only,
        examples=examples,
        other_editions=other_editions,
        observer=redacting_observer,
        recorder=recorder,
        timeout_s=timeout_s,
        all_trials=all_trials,
    )
    judgement = Judgement(profile, capture.plan.checks, capture.evidence, redacting_observer)

    def judge_a_part() -> bool:
        return judgement.advance() or judgement.prepare()

    def reason_to_end() -> str | None:
        failed = judgement.find_failure() if fail_fast else None
        return None if failed is None else f"the run ended once {failed} had failed (--fail-fast)"

    with infrequent_garbage_collection():
        try:
            run = capture.run(jobs or os.cpu_count() or 1, judge_a_part, reason_to_end)
        except ProfileError as problem:
            raise ProfileError(masks.value(problem.problems)) from None
        report = judgement.report(run)
    if recorder is not None:
        recorder.finish(run, report)
    redacting_observer(RunFinished(report))
    report = masks.value(report)
    if recorder is not None and recorder.problem is not None:
        raise EvidenceError(recorder.problem, report)
    other_reports = (judge_run(run, replace(profile, edition=name, level=None)) for name in other_editions)
    return (report, *map(masks.value, other_reports))


@contextmanager
def infrequent_garbage_collection() -> Generator[None]:
    """Makes garbage collections rare inside a ``with`` block: a run keeps almost all objects that it allocates, and the
    interpreter's usual collections would scan them repeatedly, which takes a seventh of the run's time.

    Objects that the caller has frozen remain frozen (`gc.freeze`).
    """
    usual_threshold, caller_froze = gc.get_threshold(), gc.get_freeze_count() > 0
    gc.collect()  # collect the garbage of an earlier run now, since `freeze` keeps it until this run ends
    if not caller_froze:  # `unfreeze` below would return the caller's objects to the collector, too
        gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual_threshold)
        if not caller_froze:
            gc.unfreeze()
