"""The rules by which Hypothesis composes sequences of steps for the servers of an explorer.

This module is imported only where an exploration begins, because Hypothesis is a third of all that a run imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from lro_conformance.capture.records import Record
from lro_conformance.explorers.strategies import MEMORIES, NEAR, calls, interventions


class Steps(Protocol):
    """The explorer, as far as the rules need it."""

    @property
    def details(self) -> Mapping[str, Sequence[str]]:
        """The operations to call, with their detail levels."""
        ...

    @property
    def filters(self) -> Mapping[str, Mapping[str, Any]]:
        """Optional arguments of each operation that select memories, with their values."""
        ...

    @property
    def ttl_s(self) -> int:
        """The TTL of the servers, in seconds."""
        ...

    @property
    def can_store(self) -> bool:
        """True if memories can be stored."""
        ...

    @property
    def can_place(self) -> bool:
        """True if memories can be stored whose sizes bring a result to the threshold, or near it."""
        ...

    @property
    def interventions(self) -> Sequence[str]:
        """The interventions that are possible: some of ``break``, ``sweep`` and ``restart``, or none."""
        ...

    @property
    def is_broken(self) -> bool:
        """True if the output folders are broken."""
        ...

    def begin(self) -> None:
        """Called before the first step of each sequence."""
        ...

    def step(self, name: str, *given: Any) -> None:
        """Take the step of this name, with its arguments."""
        ...

    def end(self) -> None:
        """Called after the last step of each sequence, also of one that a violation has ended."""
        ...


def machine(explorer: Steps) -> Callable[[], RuleBasedStateMachine]:
    """A class of state machines whose rules take the steps of the *explorer*; each instance is one sequence.

    Hypothesis never releases such a class, so *explorer* should be a weak reference.
    """
    arguments = calls(explorer.details, explorer.filters)

    class SequenceMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            explorer.begin()

        @precondition(lambda self: explorer.can_store)
        @rule(memories=MEMORIES, asked=arguments)
        def store(self, memories: list[Record], asked: Mapping[str, Any]) -> None:
            explorer.step("store", memories)
            explorer.step("call", [{**asked, "find": "stored"}])

        @rule(asked=arguments)
        def call(self, asked: Mapping[str, Any]) -> None:
            explorer.step("call", [asked])

        @rule(asked=st.lists(arguments, min_size=2, max_size=3))
        def call_at_once(self, asked: list[Mapping[str, Any]]) -> None:
            explorer.step("call", asked)

        @precondition(lambda self: explorer.can_place and not explorer.is_broken)
        @rule(asked=arguments, distance=st.sampled_from(NEAR))
        def place_at_threshold(self, asked: Mapping[str, Any], distance: int) -> None:
            explorer.step("place", asked, distance)

        @precondition(lambda self: bool(explorer.interventions))
        @rule(step=interventions(explorer.interventions, arguments, explorer.ttl_s))
        def intervene(self, step: Sequence[Any]) -> None:
            explorer.step(*(["mend"] if explorer.is_broken else step))

        def teardown(self) -> None:
            explorer.end()

    return SequenceMachine
