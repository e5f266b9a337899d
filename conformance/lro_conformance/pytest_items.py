"""Checks as pytest items: a file of checks, one item a check, and a failure that reads like the report."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from lro_conformance.judge import Check
from lro_conformance.plugin import LroWarning, run_of
from lro_conformance.report.layout import detail_of
from lro_conformance.report.model import CheckResult, RequirementResult
from lro_conformance.report.terminal import detail_lines
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict
from lro_spec.requirements import requirement


class CheckFile(pytest.File):
    """A module of ``checks/``. It is imported by its name: no import mode and no rewriting of pytest's touches it."""

    @classmethod
    def at(cls, parent: pytest.Collector, path: Path) -> Self:
        """The file at this path, below this collector."""
        return cls.from_parent(parent, path=path)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest

    def collect(self) -> Iterable[CheckItem]:
        """One item for each check, in the order of their definition."""
        module = importlib.import_module(f"lro_conformance.checks.{self.path.stem}")
        held = run_of(self.config).names
        for name, value in vars(module).items():
            check = getattr(value, "lro_check", None)
            if isinstance(check, Check) and check.function.__module__ == module.__name__ and check.name in held:
                yield CheckItem.of(self, name, check)


class NotAsRequired(Exception):
    """A check found what a requirement forbids."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__(result)
        self.result = result


class CheckItem(pytest.Item):
    """One check. Its verdict comes from the session's one run, which the first item starts."""

    @classmethod
    def of(cls, file: CheckFile, name: str, check: Check) -> Self:
        """The item of a check, by the name of its function."""
        return cls.from_parent(file, name=name, check=check)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest

    def __init__(self, *, check: Check, **arguments: Any) -> None:
        super().__init__(**arguments)  # pyright: ignore[reportUnknownMemberType] - untyped in pytest
        self.lro_check = check
        self.result: CheckResult | None = None
        r = requirement(check.requirement, run_of(self.config).edition)
        self.add_marker(pytest.mark.lro(id=r.id, group=r.group, keyword=r.keyword, level=r.level))
        self.extra_keyword_matches |= {r.id, r.group}
        if self.config.pluginmanager.hasplugin("timeout"):
            # The first item waits for the whole run, whose every step has a time limit of its own.
            self.add_marker(pytest.mark.timeout(0))

    def setup(self) -> None:
        """Has the verdict found. What goes wrong here is an error to pytest: so are the suite's own faults."""
        try:
            self.result = run_of(self.config).result(self.lro_check, self.session.items)
        except pytest.UsageError as problem:  # in a worker of xdist; elsewhere the session did not come this far
            pytest.fail("\n".join(problem.args), pytrace=False)
        if self.result.verdict is Verdict.ERROR:
            pytest.fail(str(Finding.of(self.result, run_of(self.config).edition)), pytrace=False)

    def runtest(self) -> None:
        """Passes, skips, warns or fails as the verdict is."""
        result = self.result
        assert result is not None, "setup comes first"
        match result.verdict:
            case Verdict.NOT_OBSERVED | Verdict.NOT_APPLICABLE:
                pytest.skip(f"{result.verdict.label}: {one_line(result.observed, 300)}")
            case Verdict.WARN:
                kind = "erratum of the text" if result.erratum else "not as it should be"
                said = f"expected {one_line(result.expected, 300)}; observed {one_line(result.observed, 300)}"
                _, line, _ = self.reportinfo()
                text = f"{result.requirement} ({kind}): {said}"
                warnings.warn_explicit(LroWarning(text), None, str(self.path), line + 1)
            case Verdict.FAIL:
                raise NotAsRequired(result)
            case _:
                pass

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What a reader of the report sees, and no traceback: the fault is not in Python code of theirs."""
        if isinstance(excinfo.value, NotAsRequired):
            return Finding.of(excinfo.value.result, run_of(self.config).edition)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the check is written, and what it is called over its failure."""
        line = inspect.unwrap(self.lro_check.function).__code__.co_firstlineno - 1
        return self.path, line, f"{self.lro_check.requirement} {self.name}"


@dataclass(frozen=True, slots=True)
class Crash:
    """What pytest's short summary and its JUnit XML take their message from."""

    message: str
    path: str
    lineno: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """A failed check, as pytest prints it."""

    lines: tuple[str, ...]
    reprcrash: Crash

    @classmethod
    def of(cls, result: CheckResult, edition: str) -> Finding:
        """The finding with its requirement, what was expected and observed, and the lines to see it again."""
        r = requirement(result.requirement, edition)
        lines = tuple(detail_lines(detail_of(RequirementResult(r, result.verdict, (result,)))))
        said = f"{r.id}: expected {one_line(result.expected, 200)}, observed {one_line(result.observed, 200)}"
        return cls(lines, Crash(said, result.name))

    def toterminal(self, tw: Any) -> None:
        """Writes it."""
        for line in self.lines:
            tw.line(line)

    def __str__(self) -> str:
        return "\n".join(self.lines)
