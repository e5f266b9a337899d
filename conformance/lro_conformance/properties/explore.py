"""Live servers for property checks: Hypothesis chooses calls, memories and files, and shrinks what fails."""

from __future__ import annotations

import random
import string
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from lro_conformance.judging.subjects import Miss, Subjects
from lro_conformance.lab.bench import Bench
from lro_conformance.lab.lab import Lab
from lro_conformance.lab.settings import Settings
from lro_conformance.profile import Profile
from lro_conformance.trials.cleanup import TTL
from lro_conformance.trials.trigger import clean_up
from lro_spec.validation.recipes import RecipeJudge

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")
Seen = TypeVar("Seen")

EXAMPLES = 12
"""Number of examples that are tried for a property."""

PATIENCE_S = 8.0
"""Seconds after which no further examples of a property are tried, so that slow servers get fewer."""

SHRINKS = 60
"""Number of smaller examples that are tried after a miss; a fixed number, so that the same seed ends with the same
example."""

SHRINKING_S = 12.0
"""Longest time, in seconds, that shrinking may take with a slow server."""

BUDGET_S = 40.0
"""Longest time, in seconds, that all properties together may take with a slow server."""


@dataclass
class Live:
    """The servers that are kept for property checks, and their exploration."""

    lab: Lab
    examples: int = EXAMPLES
    left_s: float = BUDGET_S
    _observed: dict[str, object] = field(default_factory=dict[str, object])
    _stack: ExitStack = field(default_factory=ExitStack)
    _cleaning: Bench | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cleaning(self) -> Bench:
        """A server with a threshold of 1 and a TTL of ten minutes, started on first use."""
        with self._lock:
            if self._cleaning is None:
                made = self.lab.bench(Settings(threshold_tokens=1, ttl_seconds=TTL))
                self._cleaning = self._stack.enter_context(made)
            return self._cleaning

    @property
    def profile(self) -> Profile:
        """Profile of the server."""
        return self.lab.profile

    @property
    def offloading(self) -> Bench:
        """The server of the survey, with the lowest threshold that it accepts."""
        return self.lab.kept["survey"]

    @property
    def inline(self) -> Bench:
        """The server that offloads nothing, with the highest threshold that it accepts."""
        return self.lab.kept["inline"]

    @property
    def at_the_edge(self) -> Bench | None:
        """The server at the threshold of one edge (`Edges.threshold`); None if no edge was found."""
        return self.lab.kept.get("edges")

    def clean_up(self, due: Sequence[Path]) -> None:
        """Trigger cleanup on the server of `cleaning` until all *due* files are gone, or a run deletes nothing."""
        clean_up(self.cleaning(), due)

    @cached_property
    def recipes(self) -> RecipeJudge:
        """The recipe judge for all properties.

        The installed jq runs each command once, because a live run may depend on it.
        """
        return self._stack.enter_context(RecipeJudge(fallback=True, compares=True, every_word=True))

    @cached_property
    def _chance(self) -> random.Random:
        return random.Random(self.lab.seed)

    def word(self) -> str:
        """Create a unique word of eight letters; the same seed gives the same sequence of words."""
        return "".join(self._chance.choices(string.ascii_lowercase, k=8))

    def id(self) -> str:
        """Create a unique UUID; the same seed gives the same sequence of UUIDs."""
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))

    def close(self) -> None:
        """Stop the servers that were started here."""
        self._stack.close()

    def judge(
        self,
        subjects: Subjects,
        name: str,
        strategy: SearchStrategy[Value],
        observe: Callable[[Value], Seen],
        verdict: Callable[[Seen], Miss | bool],
        *,
        share: float = 1.0,
    ) -> None:
        """Judge the observations of examples that all checks with this *name* share.

        *verdict* is like *examine* of `explore`. After a miss, the smallest example that misses is searched for.
        """
        seen = self._shared(name, strategy, observe, share)
        verdicts = [verdict(s) for _, s in seen]
        missed = next((value for (value, _), v in zip(seen, verdicts, strict=True) if isinstance(v, Miss)), None)
        if missed is not None:
            self.explore(subjects, strategy, lambda value: verdict(observe(value)), share=share)
            if subjects.misses:
                return
            self.lab.forget_experiments()
            once_more = verdict(observe(missed))  # there was no time to repeat it
            if isinstance(once_more, Miss):
                subjects.misses.append(once_more)
                subjects.examined += 1
            else:
                subjects.examined = 0
                subjects.not_observed(_GONE)
            return
        subjects.examined += sum(v is not False for v in verdicts)
        if not subjects.examined:
            subjects.not_observed(_NOTHING)

    def _shared(
        self, name: str, strategy: SearchStrategy[Value], observe: Callable[[Value], Seen], share: float
    ) -> Sequence[tuple[Value, Seen]]:
        """Examples with their observations; created once, on the first request."""
        if name not in self._observed:
            found: list[tuple[Value, Seen]] = []

            def one(value: Value) -> bool:
                found.append((value, observe(value)))
                return True

            self._observed[name] = found
            self._explore(strategy, one, share)
        return cast("list[tuple[Value, Seen]]", self._observed[name])

    def explore(
        self,
        subjects: Subjects,
        strategy: SearchStrategy[Value],
        examine: Callable[[Value], Miss | bool],
        *,
        share: float = 1.0,
    ) -> None:
        """Try *examine* on examples, and report the smallest one that misses.

        *examine* returns a miss, True if the property holds, or False if the observation does not decide. A miss that
        does not recur is noted without a failure. *share* is the fraction of the usual number of examples.
        """
        before = subjects.examined

        def one(value: Value) -> Miss | bool:
            found = examine(value)
            subjects.examined += found is not False
            return found

        try:
            missed = self._explore(strategy, one, share)
        except _NotAgain:
            subjects.examined = before
            subjects.not_observed(_GONE)
            return
        if missed is not None:
            subjects.misses.append(missed)
        if not subjects.examined:
            subjects.not_observed(_NOTHING)

    def _explore(
        self, strategy: SearchStrategy[Value], examine: Callable[[Value], Miss | bool], share: float
    ) -> Miss | None:
        """The smallest miss. Raises `_NotAgain` for a miss that does not recur."""
        from hypothesis.errors import FlakyFailure

        from lro_conformance.properties.search import on_its_own, search

        missed: list[tuple[Value, Miss]] = []
        begun = time.monotonic()
        until = begun + min(PATIENCE_S, self.left_s)
        left = SHRINKS

        def one(value: Value) -> None:
            nonlocal until, left
            left -= bool(missed)
            if time.monotonic() > until or left < 0 or self.lab.workspace.aborted:
                raise _Enough
            self.lab.forget_experiments()
            found = examine(value)
            if not isinstance(found, Miss):
                return
            if not missed:
                until = time.monotonic() + SHRINKING_S
            missed.append((value, found))
            raise AssertionError(found.observed)

        try:
            with on_its_own(self.lab.workspace.root / "hypothesis"):
                search(strategy, one, seed=self.lab.seed, examples=max(2, int(self.examples * share)))
        except (AssertionError, _Enough):
            if len(missed) == 1:  # so it has not recurred yet
                self.lab.forget_experiments()
                again = examine(missed[0][0])
                if not isinstance(again, Miss):
                    raise _NotAgain from None
        except FlakyFailure:
            raise _NotAgain from None
        finally:
            self.left_s -= time.monotonic() - begun
        return missed[-1][1] if missed else None


class _NotAgain(Exception):
    """A miss did not recur."""


class _Enough(BaseException):
    """The time is up.

    Not a subclass of `Exception`, which Hypothesis would treat as a further failure to investigate.
    """


_GONE = "a miss did not come again when the same example was repeated"
_NOTHING = "no example could be looked at: refused, not found again, or too slow"
