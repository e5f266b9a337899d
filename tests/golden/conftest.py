"""Cases that differ in a detail run the same jq on the same bytes: once is enough, and in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lro_spec.recipes.pipeline import Pipeline
from lro_spec.recipes.runner import JqRun, JqRunner
from lro_spec.validation import linked
from lro_spec.validation.recipes import Sample
from tests.support.shared_jq import one_jq_process


@pytest.fixture(autouse=True, scope="package")
def jq_runs_once() -> Iterator[None]:
    """Keep the outcome of each program on each file, and with the beginning of the file what came of comparing it."""
    run, outcomes = JqRunner.run, dict[tuple[str | None, str, bytes], JqRun]()

    def kept_run(self: JqRunner, pipeline: Pipeline, data: bytes) -> JqRun:
        key = (self.binary, repr(pipeline), data)
        if key not in outcomes:
            outcomes[key] = run(self, pipeline, data)
        return outcomes[key]

    sample, samples = linked._sample, dict[bytes, Sample]()

    def kept_sample(*read: Any) -> Sample | str:
        one = sample(*read)
        kept = samples.setdefault(one.lines, one) if isinstance(one, Sample) else one
        return kept if kept == one else one

    with one_jq_process(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(JqRunner, "run", kept_run)
        patch.setattr(linked, "_sample", kept_sample)
        yield
