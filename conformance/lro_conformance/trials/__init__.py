"""Trials are experiments: each drives servers under chosen settings and returns observations. Trials give no verdicts.

A trial is a function decorated with `trial`. Its name is also the name of its evidence, and its parameters (except
``lab``) name the evidence of other trials that it needs.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from lro_conformance.profile import Profile

Function = TypeVar("Function", bound=Callable[..., Any])

EXPLORER_MODULES = ("lro_conformance.explorers.explorer", "lro_conformance.explorers.sweeper")
"""Further modules with trials. These trials judge what they observe, since they search for violations, so they belong
to a higher layer."""

_REGISTRY: dict[str, Trial] = {}


def _always_applies(_: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Trial:
    """One experiment."""

    name: str
    title: str
    """A few words for the live view."""
    needs: tuple[str, ...]
    """The names of the trials whose evidence this trial needs."""
    function: Callable[..., Any]
    reason_not_applicable: Callable[[Profile], str | None] = _always_applies
    """Returns the reason why the trial does not apply to a server with this profile; None if it applies."""
    reason_not_listed: Callable[[Any], str | None] = _always_applies
    """Called with the survey. Returns the reason why the server does not seem to have the feature that the trial
    examines; None if it seems to have it."""
    after: tuple[str, ...] = ()
    """Trials that have to end before this trial begins, if they are part of the run."""

    @property
    def record(self) -> Any:
        """Type of the trial's evidence, by which recorded evidence is read without loading the laboratory."""
        return get_type_hints(self.function, localns={"Lab": object})["return"]

    @property
    def applies_without_lro(self) -> bool:
        """True if the trial also runs on a server without LRO: it needs no evidence, or examines a feature that the
        server lists."""
        return not self.needs or self.reason_not_listed is not _always_applies


def trial(
    title: str,
    *,
    reason_not_applicable: Callable[[Profile], str | None] = _always_applies,
    reason_not_listed: Callable[[Any], str | None] = _always_applies,
    after: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Make a function an experiment; for the parameters see the attributes of `Trial`."""

    def register(function: Function) -> Function:
        name = function.__name__
        if name in _REGISTRY and _REGISTRY[name].function.__module__ != function.__module__:
            raise ValueError(f"two trials are named {name}")
        needs = tuple(p for p in inspect.signature(function).parameters if p != "lab")
        _REGISTRY[name] = Trial(name, title, needs, function, reason_not_applicable, reason_not_listed, after)
        return function

    return register


@cache
def trials() -> dict[str, Trial]:
    """All trials by name."""
    for module in sorted(m.name for m in pkgutil.walk_packages(__path__, f"{__name__}.")):
        importlib.import_module(module)
    for module in EXPLORER_MODULES:
        importlib.import_module(module)
    return dict(_REGISTRY)


def closure(names: Iterable[str]) -> list[Trial]:
    """The trials with these names and all trials that they need, each after the trials that it needs."""
    found: dict[str, Trial] = {}

    def add(name: str) -> None:
        if name not in found:
            required = trials()[name]
            for needed in required.needs:
                add(needed)
            found[name] = required

    for name in names:
        add(name)
    return list(found.values())
