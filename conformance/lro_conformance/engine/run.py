"""A run against a live server: capture, then judgement. `judgement.judge_again` is the second half alone."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lro_conformance.engine.capture import SEQUENCES, TIMEOUT_S, Capture
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
    examples: int = SEQUENCES,
    evidence: Path | None = None,
    timeout_s: float = TIMEOUT_S,
    fail_fast: bool = False,
    all_trials: bool = False,
) -> Report:
    """Run the suite against the server of *profile*.

    *seed* replays the explorer of an earlier run. *jobs* is the number of trials at a time (default: one per core).
    *only* restricts the run to the checks with these names or of these requirement ids, and to the trials that these
    ask for, unless *all_trials* are to be made.
    *examples* is the number of sequences that the explorer tries; 0 leaves the explorer out.
    *evidence* is a folder to keep everything in that was observed. After *timeout_s* the run ends, and what is known by
    then is reported; with *fail_fast* it ends once a MUST of a level has failed.

    Never raises for what a server does: if a server cannot be observed, the ``failure`` of the report says why. Raises
    `ProfileError` for problems that only the tools of the server reveal. Raises
    `lro_conformance.evidence.format.EvidenceError` before the run if the folder cannot be used, and after it if not
    everything could be kept; the report is then its ``report``.
    """
    return _certify(profile, (), seed, jobs, observer, only, examples, evidence, timeout_s, fail_fast, all_trials)[0]


def certify_by_all(
    profile: Profile,
    *,
    seed: int | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    evidence: Path | None = None,
    examples: int = SEQUENCES,
    timeout_s: float = TIMEOUT_S,
    fail_fast: bool = False,
) -> tuple[Report, ...]:
    """Run the suite once and judge the evidence by every edition: that of the profile first, which is claimed.

    As `certify` otherwise.
    """
    others = tuple(name for name in EDITIONS if name != profile.edition)
    return _certify(profile, others, seed, jobs, observer, None, examples, evidence, timeout_s, fail_fast)


def _certify(
    profile: Profile,
    others: Sequence[str],
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
    watch = redacting(observer, masks)
    recorder = None if evidence is None else Recorder(evidence, masks)
    capture = Capture(
        profile,
        seed=seed,
        only=only,
        examples=examples,
        others=others,
        observer=watch,
        recorder=recorder,
        timeout_s=timeout_s,
        all_trials=all_trials,
    )
    judgement = Judgement(profile, capture.plan.checks, capture.evidence, watch)

    def meanwhile() -> bool:
        return judgement.advance() or judgement.prepare()

    def reason_to_end() -> str | None:
        failed = judgement.find_failure() if fail_fast else None
        return None if failed is None else f"the run ended once {failed} had failed (--fail-fast)"

    with rare_collections():
        try:
            run = capture.run(jobs or os.cpu_count() or 1, meanwhile, reason_to_end)
        except ProfileError as problem:
            raise ProfileError(masks.value(problem.problems)) from None
        report = judgement.report(run)
    if recorder is not None:
        recorder.finish(run, report)
    watch(RunFinished(report))
    report = masks.value(report)
    if recorder is not None and recorder.problem is not None:
        raise EvidenceError(recorder.problem, report)
    further = (judge_run(run, replace(profile, edition=name, level=None)) for name in others)
    return (report, *map(masks.value, further))


@contextmanager
def rare_collections() -> Generator[None]:
    """Collects garbage rarely: a run keeps almost all objects that it allocates, and the interpreter's usual
    collections would look at all of them again and again, for a seventh of its time."""
    usual = gc.get_threshold()
    gc.collect()  # what an earlier run of this process has left, which would stay for good otherwise
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
