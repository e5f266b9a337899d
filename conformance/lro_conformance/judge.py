"""What a check is, how it counts its subjects, and how a verdict comes of it.

A check is a plain function in ``checks/``, bound to exactly one requirement by `check`. Its parameters name the
evidence it reads (see ``trials/``), and what may be None it does without where it could not be had; ``text`` is the
edition that it judges by; the parameter ``see`` is the `Subjects` through which it examines and expects. It passes only
when it examined something that could have failed it.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from lro_conformance.report.model import CheckResult
from lro_conformance.verdicts import Verdict
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.requirements import anywhere, catalogue, requirement

Function = TypeVar("Function", bound=Callable[..., None])

_REGISTRY: dict[str, Check] = {}

TEXT = "text"
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
    by_text: bool = False
    """Whether it asks for the edition."""
    spares: tuple[str, ...] = ()
    """Of what it reads, what it can do without."""


@dataclass(frozen=True, slots=True)
class Miss:
    """One subject that was not as expected."""

    expected: str
    observed: str
    evidence: str = ""
    reproduce: str = ""
    """A command for bash that shows it once more."""
    location: str = ""
    """Where it stands in recorded evidence."""

    @classmethod
    def of(cls, expected: str, observed: str, at: object = None, *, evidence: str = "") -> Miss:
        """What *at* says of itself; *evidence* stands before that."""
        said = "\n".join(text for text in (evidence, evidence_of(at)) if text)
        return cls(expected, observed, said, _told(at, "reproducer"), _told(at, "location"))


class NotObserved(Exception):
    """Raised by evidence that could not be had; its text says why."""


class NotApplicable(Exception):
    """Raised where a requirement does not bind this server; its text says why."""


@dataclass(slots=True)
class Subjects:
    """What a check examines. Every `expect` counts one subject, whether it holds or not."""

    examined: int = 0
    misses: list[Miss] = field(default_factory=list[Miss])
    errata: list[Miss] = field(default_factory=list[Miss])
    unseen_because: list[str] = field(default_factory=list[str])
    not_applicable_because: str | None = None

    def expect(self, holds: bool, *, expected: str, observed: str, at: object = None) -> bool:
        """Examine one subject: *observed* stands against *expected*; *at* renders the evidence (a call, mostly)."""
        self.examined += 1
        if not holds:
            # of many misses the first is told; to render the others would only take time
            self.misses.append(Miss(expected, observed) if self.misses else Miss.of(expected, observed, at))
        return holds

    def erratum(self, *, expected: str, observed: str, at: object = None) -> None:
        """Note a defect of the specification's text that showed here; a warning, never the server's failure."""
        self.examined += 1
        self.errata.append(Miss.of(expected, observed, at))

    def unseen(self, reason: str) -> None:
        """Note why something could not be examined."""
        if reason not in self.unseen_because:
            self.unseen_because.append(reason)

    def half(self, reason: str) -> None:
        """Note that what was examined is one half of a proof and why the other is missing: a miss still counts."""
        self.unseen(reason)
        if not self.misses:
            self.examined = 0

    def not_applicable(self, reason: str) -> None:
        """Note that the requirement does not bind this server."""
        self.not_applicable_because = reason


def evidence_of(at: object) -> str:
    """The text to look at for a subject: its own ``evidence()`` where it has one."""
    return "" if at is None else _told(at, "evidence") if hasattr(at, "evidence") else str(at)


def _told(at: object, what: str) -> str:
    render = getattr(at, what, None)
    return str(render()) if callable(render) else ""


def check(requirement_id: str) -> Callable[[Function], Function]:
    """Bind a function to the requirement that it judges. A name may be used once; the docstring is what users read."""

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
        needs = tuple(p for p in parameters if p not in ("see", TEXT))
        spares = tuple(n for n in needs if str(parameters[n].annotation).endswith("| None"))
        made = Check(name, requirement_id, function, needs, doc, TEXT in parameters, spares)
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
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"lro_conformance.checks.{module}")
    return tuple(sorted(_REGISTRY.values(), key=lambda c: c.function.__module__))  # some may have been imported before


def checks_of(requirement_id: str) -> tuple[Check, ...]:
    """The checks that judge this requirement."""
    return tuple(c for c in checks() if c.requirement == requirement_id)


def judge(one: Check, have: Mapping[str, Any], *, edition: str = DEFAULT_EDITION) -> CheckResult:
    """Run a check on evidence and make its result. *have* maps every name in `Check.needs` to evidence.

    Evidence may be an exception instead: `NotObserved` means that nothing can be said, any other that the suite failed.
    """
    return _judged(replace(one, doc=_worded(one.doc, edition)), have, edition)


def _worded(doc: str, edition: str) -> str:
    """What a docstring says of the default edition's threshold and names, as another edition has them."""
    text, usual = edition_named(edition), edition_named(DEFAULT_EDITION)
    doc = doc.replace(str(usual.default_threshold_tokens), str(text.default_threshold_tokens))
    return doc.replace(f"{usual.file_prefix}-", f"{text.file_prefix}-")


def _judged(one: Check, have: Mapping[str, Any], edition: str) -> CheckResult:
    absent = {n for n in one.spares if isinstance(have[n], NotObserved | NotApplicable)}
    had = {n: None if n in absent else have[n] for n in one.needs}
    for name, problem in had.items():
        if isinstance(problem, NotObserved):
            return _result(one, Verdict.NOT_OBSERVED, 0, str(problem))
        if isinstance(problem, NotApplicable):
            return _result(one, Verdict.NOT_APPLICABLE, 0, str(problem))
        if isinstance(problem, BaseException):
            return _result(one, Verdict.ERROR, 0, f"the trial {name} failed: {type(problem).__name__}: {problem}")
    see = Subjects()
    try:
        told = {TEXT: edition_named(edition)} if one.by_text else {}
        one.function(**had, **told, see=see)
    except NotApplicable as other:
        see.not_applicable(str(other))
    except NotObserved as nothing:
        see.unseen(str(nothing))
    except Exception as problem:
        return _result(one, Verdict.ERROR, see.examined, f"{type(problem).__name__}: {problem}")
    return _verdict(one, see, edition)


def _verdict(one: Check, see: Subjects, edition: str) -> CheckResult:
    if see.misses:
        return _missed(one, see, see.misses, missed(one.requirement, edition))
    if see.errata:
        return _missed(one, see, see.errata, Verdict.WARN, erratum=True)
    if see.examined:
        return _result(one, Verdict.PASS, see.examined, f"as expected in {see.examined} of {see.examined}")
    if see.not_applicable_because is not None:
        return _result(one, Verdict.NOT_APPLICABLE, 0, see.not_applicable_because)
    return _result(one, Verdict.NOT_OBSERVED, 0, "; ".join(see.unseen_because) or "nothing to examine")


def missed(requirement_id: str, edition: str) -> Verdict:
    """What it means to miss a requirement: a MUST fails, anything less warns."""
    return Verdict.FAIL if requirement(requirement_id, edition).keyword == "MUST" else Verdict.WARN


def by_keyword(result: CheckResult, edition: str) -> CheckResult:
    """A result of another edition with what a miss means in this one."""
    if result.erratum or result.verdict not in (Verdict.FAIL, Verdict.WARN):
        return result
    return replace(result, verdict=missed(result.requirement, edition))


def held_by(edition: str, checks: Iterable[Check]) -> list[Check]:
    """Those whose requirement an edition holds, and judges."""
    held = {r.id for r in catalogue(edition) if r.excluded is None}
    return [c for c in checks if c.requirement in held]


def _missed(one: Check, see: Subjects, misses: list[Miss], verdict: Verdict, *, erratum: bool = False) -> CheckResult:
    first = misses[0]
    tally = f" ({len(misses)} of {see.examined} subjects)" if see.examined > 1 else ""
    return CheckResult(
        name=one.name,
        requirement=one.requirement,
        verdict=verdict,
        subjects=see.examined,
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
