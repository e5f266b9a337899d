"""Derived evidence: what several checks make of the same captures, computed once a run and asked for by name.

A derived evidence is a pure function decorated with `derived`. Its parameters name what it is made of, other derived
evidence as well. Two names are given by the engine: `EDITION`, the
edition that is judged by, and `FOUND`, everything the trials of the run have found, by their names. Where what it
needs could not be had, it cannot be had either, for the same reason. It is not kept with recorded evidence, but
computed anew.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

EDITION = "edition"
"""The parameter that is given the edition which is judged by."""

FOUND = "found"
"""The parameter that is given the evidence of all trials of the run that could be carried through."""

_REGISTRY: dict[str, Derived] = {}


@dataclass(frozen=True, slots=True)
class Derived:
    """One derived evidence."""

    name: str
    needs: tuple[str, ...]
    """The names of the evidence that it is made of."""
    function: Callable[..., Any]
    by_edition: bool
    by_all: bool
    """Whether it is made of the evidence of all trials."""


def derived(function: Function) -> Function:
    """Make a function derived evidence, by its own name."""
    name, parameters = function.__name__, inspect.signature(function).parameters
    known = _REGISTRY.get(name)
    if known is not None and known.function.__module__ != function.__module__:
        raise ValueError(f"two derived evidences are named {name}")
    needs = tuple(p for p in parameters if p not in (EDITION, FOUND))
    _REGISTRY[name] = Derived(name, needs, function, EDITION in parameters, FOUND in parameters)
    return function


def derived_evidence(name: str) -> Derived | None:
    """The derived evidence of this name; None where there is none."""
    return _REGISTRY.get(name)


def captured(names: Iterable[str]) -> Iterator[str]:
    """The evidence that is not derived, of what these names need."""
    for name in names:
        one = _REGISTRY.get(name)
        if one is None:
            yield name
        else:
            yield from captured(one.needs)


def compute(name: str, have: Mapping[str, Any], text: object, computed: dict[str, Any]) -> Any:
    """The evidence of a name: captured, or else derived from what was.

    An exception stands for what could not be had, or failed. *computed* keeps what was derived before.
    """
    one = _REGISTRY.get(name)
    if one is None:
        return have[name]
    if name not in computed:
        computed[name] = _made(one, have, text, computed)
    return computed[name]


def _made(one: Derived, have: Mapping[str, Any], text: object, computed: dict[str, Any]) -> Any:
    parts = {n: compute(n, have, text, computed) for n in one.needs}
    for part in parts.values():
        if isinstance(part, BaseException):
            return part
    given = dict(parts)
    if one.by_edition:
        given[EDITION] = text
    if one.by_all:
        given[FOUND] = {n: found for n, found in have.items() if not isinstance(found, BaseException)}
    try:
        return one.function(**given)
    except Exception as problem:
        return problem
