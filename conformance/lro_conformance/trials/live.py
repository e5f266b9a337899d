"""Live servers for property checks: Hypothesis chooses calls, memories and files, and shrinks what fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded_with
from hypothesis.errors import FlakyFailure, Unsatisfiable
from hypothesis.strategies import SearchStrategy

from lro_conformance.judge import Miss, Subjects
from lro_conformance.lab import Bench, Lab, Settings
from lro_conformance.trials.cleanup import TTL
from lro_spec.recipes import JqRunner

Value = TypeVar("Value")

EXAMPLES = 12
"""How many examples a property is tried with."""

_BESIDE_THE_POINT = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
    HealthCheck.nested_given,
)

PATIENCE_S = 8.0
"""After this long a property makes no further examples: slow servers get fewer."""

BUDGET_S = 40.0
"""What all properties together may take of a slow server's time."""


@dataclass
class Live:
    """The servers that are kept for property checks, and how to explore them."""

    lab: Lab
    examples: int = EXAMPLES
    left_s: float = BUDGET_S
    _stack: ExitStack = field(default_factory=ExitStack)
    _cleaning: Bench | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cleaning(self) -> Bench:
        """A server with a threshold of 1 and a TTL of ten minutes, started when first asked for."""
        with self._lock:
            if self._cleaning is None:
                made = self.lab.bench(Settings(threshold_tokens=1, ttl_seconds=TTL))
                self._cleaning = self._stack.enter_context(made)
            return self._cleaning

    @cached_property
    def runner(self) -> JqRunner:
        """One libjq for all properties; the machine's own jq has run on the survey's files."""
        return self._stack.enter_context(JqRunner(timeout_s=4.0))

    def close(self) -> None:
        """Stop what was started here."""
        self._stack.close()

    def explore(
        self,
        see: Subjects,
        strategy: SearchStrategy[Value],
        examine: Callable[[Value], Miss | bool],
        *,
        share: float = 1.0,
    ) -> None:
        """Try *examine* on examples; the smallest one that misses is the finding.

        *examine* returns what was missed, True where all was well, or False where it saw nothing to tell by; a miss
        that does not come again is noted, not held against a server.
        *share* is how many of the usual number of examples are tried.
        """
        missed: list[Miss] = []
        until = time.monotonic() + min(PATIENCE_S, self.left_s)
        begun = time.monotonic()
        before = see.examined

        def one(value: Value) -> None:
            if time.monotonic() > (until if not missed else until + PATIENCE_S):
                return
            found = examine(value)
            see.examined += found is not False
            if isinstance(found, bool):
                return
            missed[:] = [found]
            raise AssertionError(found.observed)

        explored = settings(
            max_examples=max(2, int(self.examples * share)),
            deadline=None,
            database=None,
            derandomize=False,
            print_blob=False,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=_BESIDE_THE_POINT,
        )(seeded_with(self.lab.seed)(given(strategy)(one)))
        try:
            explored()
        except FlakyFailure:
            see.examined = before
            see.unseen("a miss did not come again when the same example was repeated")
        except AssertionError:
            see.misses.append(missed[0])
        except Unsatisfiable:
            see.unseen("no example could be made")
        finally:
            self.left_s -= time.monotonic() - begun
        if not see.examined:
            see.unseen("no example could be looked at: refused, not found again, or too slow")
