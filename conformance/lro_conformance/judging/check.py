"""Checks: what they are, how they count their subjects, and how they reach a verdict.

A check is a plain function in ``checks/``, bound to exactly one requirement by `check`. Its parameters name the
evidence it reads (see ``trials/``); what it declares as optional is None when it could not be had; ``edition`` is the
edition that it judges by; ``subjects`` is the `Subjects` through which it examines and expects. It passes only when it
examined something that could have failed it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.subjects import Miss, Subjects
from lro_conformance.judging.verdicts import Verdict
from lro_spec.catalogue import anywhere, catalogue, requirement
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named

Function = TypeVar("Function", bound=Callable[..., None])

_REGISTRY: dict[str, Check] = {}

EDITION = "edition"
"""The name by which a check asks for the edition it judges by."""


@dataclass(frozen=True, slots=True)
class Check:
    """One judgement, bound to one requirement."""

    name: str
    """``chapter.what_it_says``, made from the names of module and function."""
    requirement: str
    function: Callable[..., None]
    needs: tuple[str, ...]
    """The names of the evidence it reads."""
    doc: str
    """Its docstring: what a reader of the report sees as expected."""
    by_edition: bool = False
    """True if the check has a parameter for the edition."""
    optional: tuple[str, ...] = ()
    """The names of evidence that it does without, as None, when that could not be had."""


def check(requirement_id: str, *, optional: Iterable[str] = ()) -> Callable[[Function], Function]:
    """Bind a function to the requirement that it judges. A name may be used once; the docstring is what users read.

    *optional* names parameters that may be None: evidence that the function does without when it could not be had.
    """

    def register(function: Function) -> Function:
        requirement_of(requirement_id)
        module = function.__module__.rpartition(".")[2].removeprefix("test_")
        name = f"{module}.{function.__name__.removeprefix('test_')}"
        doc = inspect.getdoc(function)
        if not doc:
            raise ValueError(f"check {name} has no docstring")
        known = _REGISTRY.get(name)
        if known is not None and known.function.__code__.co_filename != function.__code__.co_filename:
            raise ValueError(f"two checks are named {name}")
        parameters = inspect.signature(function).parameters
        needs = tuple(p for p in parameters if p not in ("subjects", EDITION))
        without = tuple(optional)
        if not set(without) <= set(needs):
            raise ValueError(f"check {name} has no parameter {', '.join(sorted(set(without) - set(needs)))}")
        made = Check(name, requirement_id, function, needs, doc, EDITION in parameters, without)
        _REGISTRY[name] = made
        function.lro_check = made  # type: ignore[attr-defined]
        return function

    return register


def requirement_of(requirement_id: str) -> None:
    """Refuse an id that the catalogue does not have, or one that it excludes."""
    try:
        found = anywhere(requirement_id)
    except KeyError:
        raise ValueError(f"no requirement {requirement_id} in the catalogue") from None
    if found.excluded is not None:
        raise ValueError(f"{requirement_id} is excluded from checking: {found.excluded}")


@cache
def checks() -> tuple[Check, ...]:
    """Every check there is, in the order of the modules' names and of their definition."""
    package = importlib.import_module("lro_conformance.checks")
    for module in sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")):
        importlib.import_module(module)
    return tuple(
        sorted(_REGISTRY.values(), key=lambda c: c.name.partition(".")[0])
    )  # some may have been imported before


def checks_of(requirement_id: str) -> tuple[Check, ...]:
    """The checks that judge this requirement."""
    return tuple(c for c in checks() if c.requirement == requirement_id)


def judge(one: Check, have: Mapping[str, Any], *, edition: str = DEFAULT_EDITION) -> CheckResult:
    """Run a check on evidence and make its result. *have* maps every name in `Check.needs` to evidence.

    Evidence may be an exception instead: `NotObserved` means that nothing can be said, any other that the suite failed.
    """
    absent = {n for n in one.optional if isinstance(have[n], NotObserved | NotApplicable)}
    had = {n: None if n in absent else have[n] for n in one.needs}
    for name, problem in had.items():
        if isinstance(problem, NotObserved):
            return _result(one, Verdict.NOT_OBSERVED, 0, str(problem))
        if isinstance(problem, NotApplicable):
            return _result(one, Verdict.NOT_APPLICABLE, 0, str(problem))
        if isinstance(problem, BaseException):
            return _result(one, Verdict.ERROR, 0, f"the trial {name} failed: {type(problem).__name__}: {problem}")
    subjects = Subjects()
    try:
        told = {EDITION: edition_named(edition)} if one.by_edition else {}
        one.function(**had, **told, subjects=subjects)
    except NotApplicable as other:
        subjects.not_applicable(str(other))
    except NotObserved as nothing:
        subjects.not_observed(str(nothing))
    except Exception as problem:
        return _result(one, Verdict.ERROR, subjects.examined, f"{type(problem).__name__}: {problem}")
    return _verdict(one, subjects, edition)


def _verdict(one: Check, subjects: Subjects, edition: str) -> CheckResult:
    if subjects.misses:
        return _missed(one, subjects, subjects.misses, missed(one.requirement, edition))
    if subjects.errata:
        return _missed(one, subjects, subjects.errata, Verdict.WARN, erratum=True)
    if subjects.examined:
        return _result(
            one, Verdict.PASS, subjects.examined, f"as expected in {subjects.examined} of {subjects.examined}"
        )
    if subjects.not_applicable_because is not None:
        return _result(one, Verdict.NOT_APPLICABLE, 0, subjects.not_applicable_because)
    return _result(one, Verdict.NOT_OBSERVED, 0, "; ".join(subjects.not_observed_because) or "nothing to examine")


def missed(requirement_id: str, edition: str) -> Verdict:
    """Verdict for a missed requirement: a MUST fails, anything less warns."""
    return Verdict.FAIL if requirement(requirement_id, edition).keyword == "MUST" else Verdict.WARN


def held_by(edition: str, checks: Iterable[Check]) -> list[Check]:
    """Those whose requirement an edition holds, and judges."""
    held = {r.id for r in catalogue(edition) if r.excluded is None}
    return [c for c in checks if c.requirement in held]


def _missed(
    one: Check, subjects: Subjects, misses: list[Miss], verdict: Verdict, *, erratum: bool = False
) -> CheckResult:
    first = misses[0]
    tally = f" ({len(misses)} of {subjects.examined} subjects)" if subjects.examined > 1 else ""
    return CheckResult(
        name=one.name,
        requirement=one.requirement,
        verdict=verdict,
        subjects=subjects.examined,
        expected=first.expected,
        observed=first.observed + tally,
        evidence=first.evidence,
        erratum=erratum,
        reproduce=first.reproduce,
        location=first.location,
    )


def _result(one: Check, verdict: Verdict, subjects: int, observed: str) -> CheckResult:
    summary = one.doc.partition("\n\n")[0].replace("\n", " ")
    return CheckResult(one.name, one.requirement, verdict, subjects, summary, observed)
