"""Checks as pytest items: files of checks, an item for each check, and failures that read like the report."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from lro_conformance.judging.check import Check
from lro_conformance.judging.results import CheckResult, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.plugin.current import LroWarning, run_of
from lro_conformance.report.details import detail_of
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.terminal import brief_detail_lines, detail_lines
from lro_spec.catalogue import requirement


class CheckFile(pytest.File):
    """A module of ``checks/``. It is imported by its name, without pytest's import modes and assertion rewriting."""

    @classmethod
    def for_path(cls, parent: pytest.Collector, path: Path) -> Self:
        """Create the collector for the file at *path*."""
        return cls.from_parent(parent, path=path)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest

    def collect(self) -> Iterable[CheckItem]:
        """Yield an item for each check, in order of definition."""
        parts = self.path.with_suffix("").parts
        relative = parts[len(parts) - parts[::-1].index("checks") - 1 :]
        module = importlib.import_module(".".join(("lro_conformance", *relative)))
        check_names = run_of(self.config).check_names
        for name, value in vars(module).items():
            check = getattr(value, "lro_check", None)
            if isinstance(check, Check) and check.function.__module__ == module.__name__ and check.name in check_names:
                yield CheckItem.for_check(self, name, check)


class CheckFailure(Exception):
    """Raised for a failed check, with its result."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__(result)
        self.result = result


class CheckItem(pytest.Item):
    """A check. Its verdict comes from the run of the session, which the first item starts."""

    @classmethod
    def for_check(cls, file: CheckFile, name: str, check: Check) -> Self:
        """Create the item for a check; *name* is the name of its function."""
        return cls.from_parent(file, name=name, check=check)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest

    def __init__(self, *, check: Check, **arguments: Any) -> None:
        super().__init__(**arguments)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest
        self.lro_check = check
        self.result: CheckResult | None = None
        r = requirement(check.requirement, run_of(self.config).edition)
        self.add_marker(pytest.mark.lro(id=r.id, group=r.group, keyword=r.keyword, level=r.level))
        self.extra_keyword_matches |= {r.id, r.group}
        if self.config.pluginmanager.hasplugin("timeout"):
            # the first item waits for the complete run, whose steps have time limits of their own
            self.add_marker(pytest.mark.timeout(0))

    def setup(self) -> None:
        """Obtain the verdict. Errors of the suite fail here, because pytest reports failures in setup as errors."""
        try:
            self.result = run_of(self.config).result(self.lro_check, self.session.items)
        except pytest.UsageError as problem:  # only in a worker of xdist; elsewhere the session has already ended
            pytest.fail("\n".join(problem.args), pytrace=False)
        if self.result.verdict is Verdict.ERROR:
            pytest.fail(str(CheckFailureRepr.for_result(self.result, run_of(self.config).edition)), pytrace=False)

    def runtest(self) -> None:
        """Pass, skip, warn or fail according to the verdict."""
        result = self.result
        assert result is not None, "setup comes first"
        match result.verdict:
            case Verdict.NOT_OBSERVED | Verdict.NOT_APPLICABLE:
                pytest.skip(f"{result.verdict.label}: {one_line(result.observed, 300)}")
            case Verdict.WARN:
                keyword = requirement(result.requirement, run_of(self.config).edition).keyword
                if result.erratum:
                    kind = "erratum of the specification"
                else:
                    kind = "not every reader understands this" if keyword == "MUST" else "recommendation not met"
                observation = f"expected {one_line(result.expected, 300)}; observed {one_line(result.observed, 300)}"
                _, line, _ = self.reportinfo()
                text = f"{result.requirement} ({kind}): {observation}"
                warnings.warn_explicit(LroWarning(text), None, str(self.path), line + 1)
            case Verdict.FAIL:
                raise CheckFailure(result)
            case _:
                pass

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Details as in the report, without a traceback, because the failure is not in Python code."""
        if isinstance(excinfo.value, CheckFailure):
            run = run_of(self.config)
            return CheckFailureRepr.for_result(
                excinfo.value.result, run.edition, run.same_cause(self.lro_check.requirement)
            )
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """File and line of the check, and its title in the list of failures."""
        line = inspect.unwrap(self.lro_check.function).__code__.co_firstlineno - 1
        return self.path, line, f"{self.lro_check.requirement} {self.name}"


@dataclass(frozen=True, slots=True)
class Crash:
    """Message and location of a failure, for pytest's short summary and JUnit XML."""

    message: str
    path: str
    lineno: int = 0


@dataclass(frozen=True, slots=True)
class CheckFailureRepr:
    """A failed check, as pytest prints it."""

    lines: tuple[str, ...]
    reprcrash: Crash

    @classmethod
    def for_result(cls, result: CheckResult, edition: str, cause: str | None = None) -> CheckFailureRepr:
        """Create the representation of a result: requirement, expectation, observation, evidence and reproducer.

        *cause* is the id of an earlier requirement that failed for the same cause, or None if there is no such
        requirement. The earlier failure shows the evidence, so this failure is shown in brief.
        """
        r = requirement(result.requirement, edition)
        detail = detail_of(RequirementResult(r, result.verdict, (result,)))
        lines = tuple(detail_lines(detail) if cause is None else brief_detail_lines(detail))
        if cause is not None:
            lines += (f"  same cause   {cause}, which shows the evidence",)
        message = f"{r.id}: expected {one_line(result.expected, 200)}, observed {one_line(result.observed, 200)}"
        return cls(lines, Crash(message, result.name))

    def toterminal(self, tw: Any) -> None:
        """Write the lines."""
        for line in self.lines:
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(self.lines)
