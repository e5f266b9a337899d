"""Runs recipes that may never end, one after the other, within shrinking time limits."""

from __future__ import annotations

import shutil
from functools import cached_property

from lro_spec.recipes.pipeline import Pipeline
from lro_spec.recipes.runner import EngineError, JqRun, JqRunner

TIME_LIMIT_S = 4.0
"""Time limit of a recipe, until it is halved. On a file of a few hundred records, a usual recipe takes 10 ms."""

MIN_TIME_LIMIT_S = 0.5
"""The time limit never becomes lower than this."""

OUTPUT_BYTES = 1 << 20
"""Default limit of a recipe's output, in bytes. A recipe that exceeds the limit is ended."""


class BoundedRunner(JqRunner):
    """A runner whose time limit is halved after each recipe that does not end by itself (`JqRun.problem`).

    Such a recipe has mostly reached the time limit. If the limit stayed the same, a hundred such recipes would take
    minutes.
    """

    def __init__(
        self,
        *,
        fallback: bool = False,
        max_output: int = OUTPUT_BYTES,
        memory: int = 2 << 30,
    ) -> None:
        """With *fallback*, the installed jq binary, if there is one, runs the programs that libjq cannot run."""
        super().__init__(timeout_s=TIME_LIMIT_S, max_output=max_output, memory=memory)
        self._fallback = fallback

    @cached_property
    def installed(self) -> JqRunner | None:
        """A runner of the installed jq binary. None if jq is not installed, or if it must not be used."""
        binary = shutil.which("jq") if self._fallback else None
        return JqRunner(binary, max_output=self.max_output, memory=self.memory) if binary is not None else None

    def close(self) -> None:
        """End the child processes."""
        super().close()
        if "installed" in vars(self) and self.installed is not None:
            self.installed.close()

    def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
        """Run one command on the bytes of its file. Raises `EngineError` if no engine can run the program."""
        try:
            result = super().run(pipeline, data)
        except EngineError:
            if self.installed is None:
                raise
            self.installed.timeout_s, self.installed.max_output = self.timeout_s, self.max_output
            result = self.installed.run(pipeline, data)
        if result.problem:
            self.timeout_s = max(MIN_TIME_LIMIT_S, self.timeout_s / 2)
        return result
