"""Waiting for recipes that may never end, and running what libjq cannot."""

from __future__ import annotations

import shutil

import pytest

from lro_spec.recipes import bounded
from lro_spec.recipes.bounded import BoundedRunner
from lro_spec.recipes.pipeline import JqCall, Pipeline, parse_command
from lro_spec.recipes.runner import EngineError, JqRun, JqRunner

ODD = parse_command("jq 'input | {id}' /out/x.jsonl")
"""A program with `input` in a way that only a jq can feed."""


def test_waiting_in_vain_halves_the_time_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, float]] = []

    def run(runner: JqRunner, pipeline: Pipeline, _: bytes) -> JqRun:
        ran.append((pipeline.jq.program, runner.timeout_s))
        ends = pipeline.jq.program != "a"
        return JqRun(0, b"", "", not ends, "libjq", "" if ends else "timed out")

    monkeypatch.setattr(JqRunner, "run", run)
    with BoundedRunner() as runner:
        for program in "abaaaab":
            runner.run(Pipeline("/f", 0, JqCall(program), ()), b"")
    assert ran == [*zip("abaaaab", (4.0, 2.0, 2.0, 1.0, 0.5, 0.5, 0.5), strict=True)]


@pytest.mark.parametrize("fallback", [False, True])
def test_what_libjq_cannot_run_is_run_by_no_other_unasked(fallback: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded.shutil, "which", lambda _: None if fallback else "/bin/jq")
    with BoundedRunner(fallback=fallback) as runner, pytest.raises(EngineError):
        runner.run(ODD, b"1\n2\n")


def test_what_libjq_cannot_run_is_run_by_the_jq_of_the_machine() -> None:
    if shutil.which("jq") is None:
        pytest.skip("this machine has no jq")
    with BoundedRunner(fallback=True) as runner:
        assert runner.run(ODD, b'{}\n{"id": 5}\n').stdout == b'{"id":5}\n'
