"""One process of jq for many judgements, in tests that are not about processes."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lro_spec.recipes.pipeline import Pipeline
from lro_spec.recipes.runner import JqRun, JqRunner
from lro_spec.sandbox.process import Sandbox


@contextmanager
def one_jq_process() -> Generator[None]:
    """Runners of the same kind share a child process: each judgement would take 40 ms of a core to start its own.

    A job that brings the child down still costs only itself, since the next one starts another. All jobs are run by one
    thread, because a child ends with the thread that started it, and validation has one for each descriptor.
    """
    start, run_once = JqRunner._new_sandbox, JqRunner._run_once
    shared = dict[tuple[str | None, int], Sandbox]()

    def shared_sandbox(self: JqRunner) -> Sandbox:
        key = (self.binary, self.memory)
        if key not in shared:
            shared[key] = start(self)
        return shared[key]

    def leave_open(self: JqRunner) -> None:
        self._sandbox = None

    with ThreadPoolExecutor(1) as thread, pytest.MonkeyPatch.context() as patch:

        def run_there(self: JqRunner, pipeline: Pipeline, data: bytes) -> tuple[JqRun, float]:
            return thread.submit(run_once, self, pipeline, data).result()

        patch.setattr(JqRunner, "_new_sandbox", shared_sandbox)
        patch.setattr(JqRunner, "_run_once", run_there)
        patch.setattr(JqRunner, "close", leave_open)
        try:
            yield
        finally:
            for sandbox in shared.values():
                sandbox.close()
