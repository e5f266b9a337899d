"""Evidence by name, as checks request it: captured by a trial, or derived from captured evidence.

Derived evidence serves several checks. It is computed by a pure function decorated with `derived`, once for each
`Evidence` object. The function's parameters name the evidence on which the derived evidence depends; such evidence may
be derived itself. The function may have two more parameters: `EDITION` is the edition to judge by, and `FOUND` is the
evidence of all successful trials. If the derived evidence depends on evidence that is missing, the derived evidence is
missing for the same reason. Derived evidence is never recorded: it is computed again when a recorded run is judged.
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
    """Names of the evidence on which the derived evidence depends."""
    function: Callable[..., Any]
    takes_edition: bool
    """True if the function has the parameter `EDITION`."""
    takes_all_evidence: bool
    """True if the function has the parameter `FOUND`."""


def derived(function: Function) -> Function:
    """Register a function as derived evidence, under the name of the function.

    Raises `ValueError` if a function of a different module is registered under the same name.
    """
    name, parameters = function.__name__, inspect.signature(function).parameters
    registered = _REGISTRY.get(name)
    if registered is not None and registered.function.__module__ != function.__module__:
        raise ValueError(f"two derived evidences are named {name}")
    needs = tuple(p for p in parameters if p not in (EDITION, FOUND))
    _REGISTRY[name] = Derived(name, needs, function, EDITION in parameters, FOUND in parameters)
    return function


def captured(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of the captured evidence that is needed for the evidence with these names.

    A name of captured evidence is yielded itself. For a name of derived evidence, the captured evidence on which it
    depends is yielded. A name may be yielded several times.
    """
    for name in names:
        definition = _REGISTRY.get(name)
        if definition is None:
            yield name
        else:
            yield from captured(definition.needs)


def depends_on(names: Iterable[str], wanted: str) -> bool:
    """True if *wanted* is one of these names, or if the evidence with one of these names is derived from *wanted*."""
    return any(name == wanted or (name in _REGISTRY and depends_on(_REGISTRY[name].needs, wanted)) for name in names)


def _examines_all_trials(name: str) -> bool:
    definition = _REGISTRY.get(name)
    return definition is not None and (
        definition.takes_all_evidence or any(map(_examines_all_trials, definition.needs))
    )


def any_examines_all_trials(names: Iterable[str]) -> bool:
    """True if the evidence with at least one of these names is derived from the evidence of all trials."""
    return any(map(_examines_all_trials, names))


class Evidence:
    """Evidence of one run, to be judged by one edition.

    If evidence is missing or could not be computed, an exception is in its place (see
    `lro_conformance.judging.outcome`).
    """

    def __init__(
        self, edition: str, captured: Mapping[str, Any] | None = None, *, expected: Collection[str] = ()
    ) -> None:
        """*captured* is the evidence of trials, by name. *expected* are the names of all trials of the run: until each
        of them has been captured, `has` is false for evidence that is derived from the evidence of all trials."""
        self.edition = edition
        self.captured: dict[str, Any] = dict(captured or {})
        self._expected = frozenset(expected)
        self._computed: dict[str, Any] = {}

    def add(self, name: str, evidence: object) -> None:
        """Add the evidence of a trial, or the exception that it raised."""
        self.captured[name] = evidence

    def has(self, names: Collection[str]) -> bool:
        """True if the evidence with these names can be selected now, and will stay the same when the evidence of
        further trials is added."""
        if any(map(_examines_all_trials, names)) and not self._expected <= self.captured.keys():
            return False
        return all(name in self.captured for name in captured(names))

    def select(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the evidence with these names, and compute derived evidence if necessary.

        Raises `KeyError` if a trial on which the evidence depends has not been captured.
        """
        return {name: self._of(name) for name in names}

    def _of(self, name: str) -> Any:
        definition = _REGISTRY.get(name)
        if definition is None:
            return self.captured[name]
        if name not in self._computed:
            self._computed[name] = self._compute(definition)
        return self._computed[name]

    def _compute(self, definition: Derived) -> Any:
        arguments = self.select(definition.needs)
        for argument in arguments.values():
            if isinstance(argument, BaseException):
                return argument
        if definition.takes_edition:
            arguments[EDITION] = edition_named(self.edition)
        if definition.takes_all_evidence:
            arguments[FOUND] = {n: e for n, e in self.captured.items() if not isinstance(e, BaseException)}
        try:
            return definition.function(**arguments)
        except Exception as problem:
            return problem
