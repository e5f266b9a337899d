"""The rules by which Hypothesis composes sequences of steps for the servers of an explorer.

This module is imported only where an exploration begins, because Hypothesis is a third of all that a run imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from lro_conformance.capture.records import Record
from lro_conformance.explorers.strategies import DISTANCES_FROM_THRESHOLD, MEMORIES, calls, interventions


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
        """True if memories can be stored until the size of a result is at the threshold, or near it."""
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

    def step(self, name: str, *arguments: Any) -> None:
        """Take the step of this name, with its arguments."""
        ...

    def end(self) -> None:
        """Called after the last step of each sequence, even if a violation has ended the sequence."""
        ...


def machine(explorer: Steps) -> Callable[[], RuleBasedStateMachine]:
    """A class of state machines whose rules take the steps of the *explorer*; each instance is one sequence.

    Hypothesis never releases such a class, so *explorer* should be a weak reference.
    """
    any_call = calls(explorer.details, explorer.filters)

    class SequenceMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            explorer.begin()

        @precondition(lambda self: explorer.can_store)
        @rule(memories=MEMORIES, call=any_call, revise=st.sampled_from([False, False, False, True]))
        def store(self, memories: list[Record], call: Mapping[str, Any], revise: bool) -> None:
            explorer.step("store", memories, False, revise)
            explorer.step("call", [{**call, "find": "stored"}])

        @rule(call=any_call)
        def call(self, call: Mapping[str, Any]) -> None:
            explorer.step("call", [call])

        @rule(calls=st.lists(any_call, min_size=2, max_size=3))
        def call_at_once(self, calls: list[Mapping[str, Any]]) -> None:
            explorer.step("call", calls)

        @precondition(lambda self: explorer.can_place and not explorer.is_broken)
        @rule(call=any_call, distance=st.sampled_from(DISTANCES_FROM_THRESHOLD))
        def place_at_threshold(self, call: Mapping[str, Any], distance: int) -> None:
            explorer.step("place", call, distance)

        @precondition(lambda self: bool(explorer.interventions))
        @rule(step=interventions(explorer.interventions, any_call, explorer.ttl_s))
        def intervene(self, step: Sequence[Any]) -> None:
            explorer.step(*(["mend"] if explorer.is_broken else step))

        def teardown(self) -> None:
            explorer.end()

    return SequenceMachine
