"""Evidence by name, as checks request it: captured by a trial, or derived from captured evidence.

Derived evidence serves several checks. It is computed once for all of them (once for each `Evidence`), by a pure
function decorated with `derived`. The function's parameters name the evidence that it depends on, which may be derived
itself. Two more names are possible: `EDITION`, the edition to judge by, and `FOUND`, the evidence of all successful
trials. If evidence that it depends on is missing, the derived evidence is missing for the same reason. Derived evidence
is never recorded: it is computed again when a recorded run is judged.
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
"""Parameter for the evidence of all successful trials, by name."""

_REGISTRY: dict[str, Derived] = {}


@dataclass(frozen=True, slots=True)
class Derived:
    """One kind of derived evidence."""

    name: str
    needs: tuple[str, ...]
    """Names of the evidence that it depends on."""
    function: Callable[..., Any]
    by_edition: bool
    """True if the function has the parameter `EDITION`."""
    by_all: bool
    """True if the function has the parameter `FOUND`."""


def derived(function: Function) -> Function:
    """Register a function as derived evidence, under its own name.

    Raises `ValueError` if a function of a different module has that name.
    """
    name, parameters = function.__name__, inspect.signature(function).parameters
    known = _REGISTRY.get(name)
    if known is not None and known.function.__module__ != function.__module__:
        raise ValueError(f"two derived evidences are named {name}")
    needs = tuple(p for p in parameters if p not in (EDITION, FOUND))
    _REGISTRY[name] = Derived(name, needs, function, EDITION in parameters, FOUND in parameters)
    return function


def captured(names: Iterable[str]) -> Iterator[str]:
    """Names of the captured evidence on which the evidence with these names depends, directly or through derived
    evidence. A name may occur several times."""
    for name in names:
        one = _REGISTRY.get(name)
        if one is None:
            yield name
        else:
            yield from captured(one.needs)


def depends(names: Iterable[str], wanted: str) -> bool:
    """True if *wanted* is one of these names, or if evidence with one of these names is derived from it."""
    return any(name == wanted or (name in _REGISTRY and depends(_REGISTRY[name].needs, wanted)) for name in names)


def _by_all(name: str) -> bool:
    one = _REGISTRY.get(name)
    return one is not None and (one.by_all or any(map(_by_all, one.needs)))


def examines_all(names: Iterable[str]) -> bool:
    """True if any evidence with these names is derived from the evidence of all trials."""
    return any(map(_by_all, names))


class Evidence:
    """Evidence of one run, to be judged by one edition.

    If evidence is missing or could not be computed, an exception takes its place (`lro_conformance.judging.outcome`).
    """

    def __init__(
        self, edition: str, captured: Mapping[str, Any] | None = None, *, expected: Collection[str] = ()
    ) -> None:
        """*expected* are the names of the trials that must have been captured before `has` is true for evidence that is
        derived from the evidence of all trials."""
        self.edition = edition
        self.captured: dict[str, Any] = dict(captured or {})
        self._expected = frozenset(expected)
        self._computed: dict[str, Any] = {}

    def add(self, name: str, evidence: object) -> None:
        """Add the evidence of a trial, or the exception that it raised."""
        self.captured[name] = evidence

    def has(self, names: Collection[str]) -> bool:
        """True if the evidence with these names can be selected, and would not change if the evidence of further trials
        were added."""
        if any(map(_by_all, names)) and not self._expected <= self.captured.keys():
            return False
        return all(name in self.captured for name in captured(names))

    def select(self, names: Iterable[str]) -> dict[str, Any]:
        """The evidence with these names, derived if need be. Raises `KeyError` if a trial that it depends on was not
        captured."""
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
