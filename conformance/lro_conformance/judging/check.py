"""Checks: their registration, and how they are run and reach a verdict.

A check is a plain function in ``checks/``. The decorator `check` binds it to exactly one requirement. Its parameters
name the evidence that it reads. Evidence is either captured by a trial (``trials/``) or derived from captured evidence
by a function (`lro_conformance.judging.derived`). If a check declares evidence as optional, it gets None when that
evidence is missing. Two parameters are not evidence: ``edition`` is the edition by which the check judges, and
``subjects`` is a `Subjects`, to which the check reports each thing that it examines. A check passes only if it examined
at least one thing because of which it could have failed.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.subjects import Miss, Subjects, evidence_of, location_of, reproducer_of
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.wire.shortage import Shortage, shortage_of
from lro_spec.catalogue import catalogue, first_wording, requirement
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named

Function = TypeVar("Function", bound=Callable[..., None])

_REGISTRY: dict[str, Check] = {}

EDITION = "edition"
"""The parameter for the edition that a check judges by."""


@dataclass(frozen=True, slots=True)
class Check:
    """A registered check."""

    name: str
    """``module.function``; the prefix ``test_`` is removed from both names."""
    requirement: str
    function: Callable[..., None]
    needs: tuple[str, ...]
    """The names of the evidence that the check reads."""
    doc: str
    """The docstring of the function."""
    takes_edition: bool = False
    """True if the function has the parameter `EDITION`."""
    calls_of: tuple[str, ...] = ()
    """The names of further trials that have to run. The check does not name their evidence, but it examines their
    calls, which are part of evidence that is derived from all trials."""
    optional: tuple[str, ...] = ()
    """The names of evidence that may be missing. If it is missing, the check runs with None in its place."""

    @property
    def expectation(self) -> str:
        """The first paragraph of the docstring. Reports show this paragraph as what the check expects."""
        return self.doc.partition("\n\n")[0].replace("\n", " ")


def check(
    requirement_id: str, *, optional: Iterable[str] = (), calls_of: Iterable[str] = ()
) -> Callable[[Function], Function]:
    """Bind a function to the requirement that it judges.

    The docstring of the function is shown to users. *optional* has the names of parameters that are None if their
    evidence is missing. *calls_of* has the names of further trials that have to run, see `Check.calls_of`.

    Raises `ValueError` in each of these cases: the requirement is unknown or excluded, the function has no docstring,
    the function lacks one of the *optional* parameters, or a check in a different file has the same name.
    """

    def register(function: Function) -> Function:
        validate_requirement_id(requirement_id)
        module = function.__module__.rpartition(".")[2].removeprefix("test_")
        name = f"{module}.{function.__name__.removeprefix('test_')}"
        doc = inspect.getdoc(function)
        if not doc:
            raise ValueError(f"check {name} has no docstring")
        registered = _REGISTRY.get(name)
        if registered is not None and registered.function.__code__.co_filename != function.__code__.co_filename:
            raise ValueError(f"two checks are named {name}")
        parameters = inspect.signature(function).parameters
        needs = tuple(p for p in parameters if p not in ("subjects", EDITION))
        optional_names = tuple(optional)
        if not set(optional_names) <= set(needs):
            raise ValueError(f"check {name} has no parameter {', '.join(sorted(set(optional_names) - set(needs)))}")
        new_check = Check(
            name, requirement_id, function, needs, doc, EDITION in parameters, tuple(calls_of), optional_names
        )
        _REGISTRY[name] = new_check
        function.lro_check = new_check  # type: ignore[attr-defined]
        return function

    return register


def validate_requirement_id(requirement_id: str) -> None:
    """Raise `ValueError` if no edition has this requirement, or if it is excluded from checking."""
    try:
        wording = first_wording(requirement_id)
    except KeyError:
        raise ValueError(f"no requirement {requirement_id} in the catalogue") from None
    if wording.excluded is not None:
        raise ValueError(f"{requirement_id} is excluded from checking: {wording.excluded}")


@cache
def checks() -> tuple[Check, ...]:
    """All checks, sorted by module. The checks of one module are in the order of their definition."""
    package = importlib.import_module("lro_conformance.checks")
    for module in sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")):
        importlib.import_module(module)
    # sorted, because some modules may have been imported earlier
    return tuple(sorted(_REGISTRY.values(), key=lambda c: c.name.partition(".")[0]))


def checks_of(requirement_id: str) -> tuple[Check, ...]:
    """The checks of this requirement."""
    return tuple(c for c in checks() if c.requirement == requirement_id)


def judge(check: Check, evidence: Mapping[str, Any], *, edition: str = DEFAULT_EDITION) -> CheckResult:
    """Run a check on evidence and return its result.

    *evidence* maps every name in `Check.needs` to evidence, or to an exception in its place. The exception is
    `NotObserved` if there is no evidence, `NotApplicable` if the requirement does not bind the server, and any other
    exception if the suite failed. Raises `Shortage` if the machine lacks something, such as disk space.
    """
    absent = {n for n in check.optional if isinstance(evidence[n], NotObserved | NotApplicable)}
    arguments = {n: None if n in absent else evidence[n] for n in check.needs}
    for name, problem in arguments.items():
        if isinstance(problem, NotObserved):
            return _result(check, Verdict.NOT_OBSERVED, 0, str(problem), problem.subject)
        if isinstance(problem, NotApplicable):
            return _result(check, Verdict.NOT_APPLICABLE, 0, str(problem))
        if isinstance(problem, BaseException):
            _raise_shortage(problem)
            return _result(check, Verdict.ERROR, 0, f"the trial {name} failed: {type(problem).__name__}: {problem}")
    subjects = Subjects()
    try:
        edition_argument = {EDITION: edition_named(edition)} if check.takes_edition else {}
        check.function(**arguments, **edition_argument, subjects=subjects)
    except NotApplicable as reason:
        subjects.not_applicable(str(reason))
    except NotObserved as reason:
        subjects.not_observed(str(reason))
    except Exception as problem:
        _raise_shortage(problem)
        return _result(check, Verdict.ERROR, subjects.examined, f"{type(problem).__name__}: {problem}")
    return _verdict(check, subjects, edition)


class _Missing:
    """Stand-in for missing evidence. It raises `NotObserved` when a check reads anything from it."""

    def __getattribute__(self, name: str) -> Any:
        raise NotObserved("not captured")

    def _raise(self, *_: object) -> Any:
        raise NotObserved("not captured")

    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __eq__ = __hash__ = __call__ = _raise


def reason_not_bound(check: Check, evidence: Mapping[str, Any], *, edition: str = DEFAULT_EDITION) -> str | None:
    """Return the reason why the requirement of a check does not bind the server, or None if the evidence shows no such
    reason.

    *evidence* is as in `judge`, but most of its values may be exceptions. The check is run on the values that are
    evidence. That is enough, because a check begins with the question whether its requirement applies, and in most
    cases only the survey is needed to answer it.
    """
    arguments = {n: _Missing() if isinstance(evidence[n], BaseException) else evidence[n] for n in check.needs}
    edition_argument = {EDITION: edition_named(edition)} if check.takes_edition else {}
    try:
        check.function(**arguments, **edition_argument, subjects=Subjects())
    except NotApplicable as reason:
        return str(reason)
    except Exception:  # the check needs evidence that is missing
        return None
    return None


def _raise_shortage(problem: BaseException) -> None:
    if (shortage := shortage_of(problem)) is not None:
        raise Shortage(shortage) from problem


def _verdict(check: Check, subjects: Subjects, edition: str) -> CheckResult:
    if subjects.misses:
        return _result_with_miss(check, subjects, subjects.misses, missed(check.requirement, edition))
    if subjects.hindrances:
        return replace(_result(check, Verdict.NOT_OBSERVED, 0, subjects.hindrances[0]), hindered=True)
    if subjects.errata:
        return _result_with_miss(check, subjects, subjects.errata, Verdict.WARN, erratum=True)
    if subjects.warnings:
        return _result_with_miss(check, subjects, subjects.warnings, Verdict.WARN)
    if subjects.examined:
        return _result(
            check, Verdict.PASS, subjects.examined, f"as expected in {subjects.examined} of {subjects.examined}"
        )
    if subjects.not_applicable_because is not None:
        return _result(check, Verdict.NOT_APPLICABLE, 0, subjects.not_applicable_because)
    return _result(check, Verdict.NOT_OBSERVED, 0, "; ".join(subjects.not_observed_because) or "nothing to examine")


def missed(requirement_id: str, edition: str) -> Verdict:
    """The verdict for an unmet requirement: *fail* for a MUST, otherwise *warn*."""
    return Verdict.FAIL if requirement(requirement_id, edition).keyword == "MUST" else Verdict.WARN


def checks_of_edition(edition: str, checks: Iterable[Check]) -> list[Check]:
    """The checks whose requirement is in an edition and is not excluded there."""
    judged_ids = {r.id for r in catalogue(edition) if r.excluded is None}
    return [c for c in checks if c.requirement in judged_ids]


def _result_with_miss(
    check: Check, subjects: Subjects, misses: list[Miss], verdict: Verdict, *, erratum: bool = False
) -> CheckResult:
    first = misses[0]
    tally = f" ({len(misses)} of {subjects.examined} subjects)" if subjects.examined > 1 else ""
    return CheckResult(
        name=check.name,
        requirement=check.requirement,
        verdict=verdict,
        subjects=subjects.examined,
        expected=first.expected,
        observed=first.observed + tally,
        evidence=first.evidence,
        erratum=erratum,
        reproduce=first.reproduce,
        location=first.location,
        place=first.place,
    )


def _result(check: Check, verdict: Verdict, subjects: int, observed: str, subject: object = None) -> CheckResult:
    return CheckResult(
        check.name,
        check.requirement,
        verdict,
        subjects,
        check.expectation,
        observed,
        evidence_of(subject),
        reproduce=reproducer_of(subject),
        location=location_of(subject),
    )
