"""Running recipes that may never end, one after the other."""

from __future__ import annotations

import shutil
from functools import cached_property

from lro_spec.recipes.pipeline import Pipeline
from lro_spec.recipes.runner import EngineError, JqRun, JqRunner

PATIENCE_S = 4.0
"""How long a recipe may take for a file of a few hundred records; an honest one takes a hundredth of a second."""

LEAST_S = 0.5
"""How long it may take after several have taken longer."""

MOST_ENDED = 3
"""After so many recipes that a limit ended in their own place, no other file is looked at."""

OUTPUT_BYTES = 1 << 20
"""What a recipe may give beyond eight times its file: more is cut off, since what was given is kept."""


class RecipeRunner(JqRunner):
    """Waits half as long after each recipe that a limit ended: a hundred that never end would take minutes."""

    def __init__(self, binary: str | None = None, *, max_output: int = OUTPUT_BYTES) -> None:
        super().__init__(binary, timeout_s=PATIENCE_S, max_output=max_output)
        self.ended: set[str] = set()
        """The commands that a limit ended, without their paths: `attempt` tries them for their own place only."""
        self.unrun: dict[str, str] = {}
        """The commands that no jq here can run, likewise, and why."""

    @cached_property
    def _installed(self) -> JqRunner | None:
        """The machine's jq, for what libjq cannot run by itself."""
        binary = shutil.which("jq") if self.binary is None else None
        return JqRunner(binary, max_output=self.max_output) if binary is not None else None

    def close(self) -> None:
        """Ends what runs recipes."""
        super().close()
        if "_installed" in vars(self) and self._installed is not None:
            self._installed.close()

    def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
        """Runs one command on the bytes of its file. Raises `EngineError`."""
        try:
            done = super().run(pipeline, data)
        except EngineError:
            if self._installed is None:
                raise
            self._installed.timeout_s = self.timeout_s
            done = self._installed.run(pipeline, data)
        if done.problem:
            self.timeout_s = max(LEAST_S, self.timeout_s / 2)
        return done
