"""Evidence as checks ask for it, by name: captured by a trial, or derived from what was captured.

Derived evidence is what several checks read out of the same captures. It is a pure function decorated with `derived`,
and computed once a run. Its parameters name the evidence that it is made of, which may be derived itself. Two more
names may be among them: `EDITION`, the edition to judge by, and `FOUND`, the evidence of all trials. If evidence that
it is made of is missing, derived evidence is missing for the same reason. It is not recorded, but computed again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from lro_spec.editions import edition as edition_named

Function = TypeVar("Function", bound=Callable[..., Any])

EDITION = "edition"
"""Parameter for the edition to judge by."""

FOUND = "found"
"""Parameter for the evidence of all trials that succeeded, by their names."""

_REGISTRY: dict[str, Derived] = {}


@dataclass(frozen=True, slots=True)
class Derived:
    """One kind of derived evidence."""

    name: str
    needs: tuple[str, ...]
    """Names of the evidence that it is made of."""
    function: Callable[..., Any]
    by_edition: bool
    """True if it depends on the edition."""
    by_all: bool
    """True if it is made of the evidence of all trials."""


def derived(function: Function) -> Function:
    """Register a function as derived evidence, under its own name."""
    name, parameters = function.__name__, inspect.signature(function).parameters
    known = _REGISTRY.get(name)
    if known is not None and known.function.__module__ != function.__module__:
        raise ValueError(f"two derived evidences are named {name}")
    needs = tuple(p for p in parameters if p not in (EDITION, FOUND))
    _REGISTRY[name] = Derived(name, needs, function, EDITION in parameters, FOUND in parameters)
    return function


def captured(names: Iterable[str]) -> Iterator[str]:
    """Names of the captured evidence that these names need, directly or through derived evidence."""
    for name in names:
        one = _REGISTRY.get(name)
        if one is None:
            yield name
        else:
            yield from captured(one.needs)


def _by_all(name: str) -> bool:
    one = _REGISTRY.get(name)
    return one is not None and (one.by_all or any(map(_by_all, one.needs)))


class Evidence:
    """Evidence of one run by one edition.

    An exception stands for evidence that is missing (`lro_conformance.judging.outcome`) or could not be computed.
    """

    def __init__(
        self, edition: str, captured: Mapping[str, Any] | None = None, *, expected: Collection[str] = ()
    ) -> None:
        """*expected*: the trials to wait for before evidence is derived from all of them."""
        self.edition = edition
        self.captured: dict[str, Any] = dict(captured or {})
        self._expected = frozenset(expected)
        self._computed: dict[str, Any] = {}

    def add(self, name: str, evidence: object) -> None:
        """Add what a trial has captured, or the exception that it raised."""
        self.captured[name] = evidence

    def has(self, names: Collection[str]) -> bool:
        """True if evidence of all *names* can be selected, and none of it would change when more is added."""
        if any(map(_by_all, names)) and not self._expected <= self.captured.keys():
            return False
        return all(name in self.captured for name in captured(names))

    def select(self, names: Iterable[str]) -> dict[str, Any]:
        """Evidence of these names. Raises `KeyError` if it needs some that was not captured."""
        return {name: self._of(name) for name in names}

    def _of(self, name: str) -> Any:
        one = _REGISTRY.get(name)
        if one is None:
            return self.captured[name]
        if name not in self._computed:
            self._computed[name] = self._compute(one)
        return self._computed[name]

    def _compute(self, one: Derived) -> Any:
        parts = self.select(one.needs)
        for part in parts.values():
            if isinstance(part, BaseException):
                return part
        if one.by_edition:
            parts[EDITION] = edition_named(self.edition)
        if one.by_all:
            parts[FOUND] = {n: e for n, e in self.captured.items() if not isinstance(e, BaseException)}
        try:
            return one.function(**parts)
        except Exception as problem:
            return problem
