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

OUTPUT_BYTES = 1 << 20
"""How much a recipe may give, where it is not said; what is beyond that is cut off."""


class PatientRunner(JqRunner):
    """Waits half as long after each recipe that a limit ended: a hundred that never end would take minutes."""

    def __init__(
        self,
        *,
        fallback: bool = False,
        max_output: int = OUTPUT_BYTES,
        memory: int = 2 << 30,
        ends_with_thread: bool = False,
    ) -> None:
        """With *fallback*, the machine's jq runs what libjq cannot run by itself."""
        super().__init__(timeout_s=PATIENCE_S, max_output=max_output, memory=memory, ends_with_thread=ends_with_thread)
        self._fallback = fallback

    @cached_property
    def installed(self) -> JqRunner | None:
        """The machine's jq, where there is one and it may run."""
        binary = shutil.which("jq") if self._fallback else None
        return JqRunner(binary, max_output=self.max_output, memory=self.memory) if binary is not None else None

    def close(self) -> None:
        """End what runs recipes."""
        super().close()
        if "installed" in vars(self) and self.installed is not None:
            self.installed.close()

    def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
        """Run one command on the bytes of its file. Raises `EngineError`."""
        try:
            done = super().run(pipeline, data)
        except EngineError:
            if self.installed is None:
                raise
            self.installed.timeout_s, self.installed.max_output = self.timeout_s, self.max_output
            done = self.installed.run(pipeline, data)
        if done.problem:
            self.timeout_s = max(LEAST_S, self.timeout_s / 2)
        return done
