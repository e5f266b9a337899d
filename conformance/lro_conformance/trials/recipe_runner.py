"""Running recipes that may never end, one after the other."""

from __future__ import annotations

from lro_spec.recipes import JqRun, JqRunner, Pipeline

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

    def run(self, pipeline: Pipeline, data: bytes) -> JqRun:
        """Runs one command on the bytes of its file. Raises `EngineError`."""
        done = super().run(pipeline, data)
        if done.problem:
            self.timeout_s = max(LEAST_S, self.timeout_s / 2)
        return done
