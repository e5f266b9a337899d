"""The one run of a pytest session: which server, which checks, and what its report means for the session."""

from __future__ import annotations

import hashlib
import os
import pickle
import shlex
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.evidence.layout import EvidenceError
from lro_conformance.judge import Check, checks
from lro_conformance.plugin import PROFILE_NAME
from lro_conformance.profile import Profile, ProfileError, load
from lro_conformance.report.exits import FAILS, HOLDS, NO_VERDICT, exit_code
from lro_conformance.report.jsonfile import check_target, write_json
from lro_conformance.report.layout import details, facts, no_verdict
from lro_conformance.report.model import CheckResult, Report
from lro_conformance.report.terminal import detail_lines
from lro_conformance.verdicts import Verdict
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.requirements import catalogue

_TONES = {"good": {"green": True}, "bad": {"red": True}, "doubtful": {"yellow": True}}


class PytestRun:
    """Certifies at most once for what pytest collected, and tells what came of it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = config.option
        self._report: Report | None = None
        self._checked: frozenset[str] = frozenset()
        """The names of the checks that the report is of."""
        self._problem: Exception | None = None
        self._items_ran = False

    # what is to be certified

    def check_options(self) -> None:
        """Raises `pytest.UsageError` for options or a profile that cannot be used, or a system that cannot."""
        if os.name != "posix":
            raise pytest.UsageError("lro: certifying is not supported on Windows, run it in WSL or a container")
        if self.profile is None and self._options.lro_level is not None:
            raise pytest.UsageError(f"--lro-level {self._options.lro_level}: {self.lacking}")
        if self._options.lro_json is not None:
            try:
                check_target(Path(self._options.lro_json))
            except OSError as problem:
                raise pytest.UsageError(f"--lro-json: {problem}") from None

    @cached_property
    def profile(self) -> Profile | None:
        """The profile of the options, or of the rootdir; None when no server is named. Raises `pytest.UsageError`."""
        option, level = self._options, self._options.lro_level
        path = Path(option.lro_profile) if option.lro_profile is not None else self._config.rootpath / PROFILE_NAME
        command: list[str] = []
        try:
            command = shlex.split(option.lro_command or "")
            if option.lro_profile is not None or path.is_file():
                found = load(path, command=command)
            elif command:
                found = Profile.for_command(command)
            else:
                return None
        except ProfileError as problem:
            raise pytest.UsageError(*map(str, problem.problems)) from None
        except ValueError as problem:
            raise pytest.UsageError(f"--lro-command: {problem}") from None
        return found if level is None else replace(found, level=level)

    @property
    def edition(self) -> str:
        """The edition that is judged by; the default one where no profile can be read, which is told elsewhere."""
        try:
            return self.profile.edition if self.profile is not None else DEFAULT_EDITION
        except pytest.UsageError:
            return DEFAULT_EDITION

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the checks that this edition has."""
        held = {r.id for r in catalogue(self.edition)}
        return frozenset(c.name for c in checks() if c.requirement in held)

    @property
    def lacking(self) -> str:
        """How to name a server, where none is named."""
        place = self._config.rootpath
        return f"no server to certify: give --lro-command or --lro-profile, or put {PROFILE_NAME} into {place}"

    def _names(self, items: Iterable[pytest.Item]) -> frozenset[str]:
        """The names of the checks among the items; of every check, where a test asks for the report."""
        found: set[str] = set()
        for item in items:
            check = getattr(item, "lro_check", None)
            if isinstance(check, Check):
                found.add(check.name)
            elif "lro_report" in getattr(item, "fixturenames", ()):
                found |= self.names
        return frozenset(found)

    # what comes of it

    def result(self, check: Check, items: Iterable[pytest.Item]) -> CheckResult:
        """The result of a collected check. The first call makes the run, for all that was collected."""
        if self.profile is None:
            return _unseen(check, self.lacking)
        self._items_ran = True
        report = self._certified(self._names(items) | {check.name})
        every = (c for r in report.requirements for c in r.checks)
        return next((c for c in every if c.name == check.name), None) or _unseen(
            check, f"{report.edition} does not have {check.requirement}"
        )

    def whole_report(self, items: Iterable[pytest.Item]) -> Report:
        """The report of every check there is, collected or not. Fails where no server is named."""
        if self.profile is None:
            pytest.fail(self.lacking, pytrace=False)
        return self._certified(self.names | self._names(items))

    def _certified(self, names: frozenset[str]) -> Report:
        if self._report is not None and names <= self._checked:
            return self._report
        if self._problem is not None:
            raise RuntimeError("the run failed before, see the first error") from self._problem
        profile = self.profile
        assert profile is not None, "asked before"

        def run() -> Report:
            from lro_conformance.engine import certify

            folder = self._options.lro_evidence
            try:
                return certify(
                    profile, seed=self._options.lro_seed, only=names, evidence=None if folder is None else Path(folder)
                )
            except EvidenceError as problem:
                if problem.report is None:
                    pytest.exit(f"--lro-evidence: {problem}", returncode=int(pytest.ExitCode.USAGE_ERROR))
                return replace(problem.report, notes=(*problem.report.notes, f"--lro-evidence: {problem}"))

        try:
            self._report = _shared_by_workers(self._config, names, run)
        except ProfileError as problem:  # what only the server's list of tools shows
            pytest.exit(str(problem), returncode=int(pytest.ExitCode.USAGE_ERROR))
        except Exception as problem:
            self._problem = problem
            raise
        self._checked = names
        return self._report

    # the end of the session

    def receive(self, sent: bytes) -> None:
        """Takes what a worker of xdist found; workers share one run, so the fullest report is the one."""
        report, checked, items_ran = pickle.loads(sent)
        self._items_ran = self._items_ran or items_ran
        if self._report is None or len(checked) > len(self._checked):
            self._report, self._checked = report, checked

    def finish(self, session: pytest.Session) -> None:
        """Writes the report; makes the session fail where pytest alone would have let it pass."""
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:  # a worker: its controller does the rest
            if self._report is not None:
                output["lro_report"] = pickle.dumps((self._report, self._checked, self._items_ran))
            return
        if self._report is not None and self._options.lro_json is not None:
            write_json(self._report, Path(self._options.lro_json))
        if (
            session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
            and self._exit_code() != HOLDS
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def _claimed(self) -> int | None:
        """The level to be proved in this session: that of the option; that of the profile where every check ran."""
        if self._options.lro_level is not None:
            return self._options.lro_level
        whole = self._items_ran and self._checked >= self.names
        return self.profile.level if whole and self.profile is not None else None

    def _exit_code(self) -> int:
        """What `lro certify` would say, were what ran in this session its run."""
        explicit = self._options.lro_level is not None
        if self._report is None:
            return FAILS if explicit else HOLDS
        if not explicit and not self._items_ran:
            return HOLDS  # a test of the user's own holds the report, and decides
        return exit_code(replace(self._report, claimed=self._claimed))

    def summarize(self, terminal: Any) -> None:
        """Prints the levels and what follows from them."""
        terminal.section("Large Result Offloading")
        report = self._report
        if report is None:
            terminal.line(f"nothing was certified: {'no check ran' if self.profile else self.lacking}", yellow=True)
        else:
            self._summarize(replace(report, claimed=self._claimed), terminal)
        code = self._exit_code()
        if code != HOLDS or self._claimed is not None:
            said = f"{'exit status':<14}  {int(code != HOLDS)}: {self._in_words(code)}"
            terminal.line(said, **_TONES["bad" if code != HOLDS else "good"])

    def _in_words(self, code: int) -> str:
        if code == NO_VERDICT:
            return "there is no verdict, so the session fails"
        if self._claimed is None:
            return "a MUST is not met, so the session fails"
        found = self._report.levels.get(self._claimed) if self._report is not None else None
        return f"level {self._claimed} is " + (f"{found}" if code == HOLDS else "not proved, so the session fails")

    def _summarize(self, report: Report, terminal: Any) -> None:
        if not self._items_ran:  # no item has shown what is wrong
            for detail in details(report):
                for line in (*detail_lines(detail), ""):
                    terminal.line(line)
        for line in no_verdict(report):
            terminal.line(f"no verdict      {line}", red=True)
        for fact in facts(report):
            terminal.line(f"{fact.label:<14}  {fact.text}", **_TONES.get(fact.tone, {}))
        ran, every = len(self._checked), len(self.names)
        if ran < every:
            said = f"{ran} of {every} checks: what the others judge is unproved here"
            terminal.line(f"{'selected':<14}  {said}", yellow=True)


def _unseen(check: Check, reason: str) -> CheckResult:
    return CheckResult(check.name, check.requirement, Verdict.NOT_OBSERVED, 0, check.doc, reason)


def _shared_by_workers(config: pytest.Config, names: Collection[str], run: Callable[[], Report]) -> Report:
    """The report of *run*; under xdist the first worker that needs it makes it and the others wait for it."""
    base = config.option.basetemp if hasattr(config, "workerinput") else None
    if base is None or os.name != "posix":
        return run()
    import fcntl

    key = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]
    kept = Path(base).parent / f"lro-{key}.pickle"  # pytest's own folder, private to the user
    with open(kept.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            return pickle.loads(kept.read_bytes())
        report = run()
        partial = kept.with_suffix(".partial")
        partial.write_bytes(pickle.dumps(report))
        partial.replace(kept)
        return report
