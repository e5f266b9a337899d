"""The run of a pytest session: its server, its checks, and the effect of its report on the session."""

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

from lro_conformance import PROFILE_NAME
from lro_conformance.errors import require
from lro_conformance.evidence.format import EvidenceError
from lro_conformance.judging.check import Check, checks
from lro_conformance.judging.results import CheckResult, Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.profile import Profile, ProfileError, load, profile_for_command
from lro_conformance.report.causes import causes
from lro_conformance.report.details import failure_lines
from lro_conformance.report.exit_code import EXIT_FAILED, EXIT_NO_VERDICT, EXIT_OK, exit_code
from lro_conformance.report.formats.json import check_target, write_json
from lro_conformance.report.terminal import cause_lines
from lro_conformance.report.view import facts
from lro_spec.catalogue import catalogue
from lro_spec.editions import DEFAULT_EDITION

_TONES = {"good": {"green": True}, "bad": {"red": True}, "doubtful": {"yellow": True}}


class PytestRun:
    """Runs the collected checks when the first result is needed, and reports the outcome."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = config.option
        self._report: Report | None = None
        self._checked_names: frozenset[str] = frozenset()
        """Names of the checks in the report."""
        self._problem: Exception | None = None
        self._items_ran = False
        """True if a check ran as an item; False if only tests that use `lro_report` needed the run."""

    # server and checks

    def check_options(self) -> None:
        """Raise `pytest.UsageError` for invalid options, an invalid profile, or an unsupported system."""
        if os.name != "posix":
            raise pytest.UsageError("lro: certifying is not supported on Windows: use WSL or a container")
        try:
            require("certify")
        except ModuleNotFoundError as missing:
            raise pytest.UsageError(f"lro: certifying needs {missing.name}: pip install 'lro-spec[certify]'") from None
        if self.profile is None and self._options.lro_level is not None:
            raise pytest.UsageError(f"--lro-level {self._options.lro_level}: {self.missing_server}")
        if self._options.lro_json is not None:
            try:
                check_target(Path(self._options.lro_json))
            except OSError as problem:
                raise pytest.UsageError(f"--lro-json: {problem}") from None

    @cached_property
    def profile(self) -> Profile | None:
        """The profile of the options or of the rootdir; None if no server is named. Raises `pytest.UsageError`."""
        option, level = self._options, self._options.lro_level
        path = Path(option.lro_profile) if option.lro_profile is not None else self._config.rootpath / PROFILE_NAME
        command: list[str] = []
        try:
            command = shlex.split(option.lro_command or "")
            if option.lro_profile is not None or path.is_file():
                profile = load(path, command=command)
            elif command:
                profile = profile_for_command(command)
            else:
                return None
        except ProfileError as problem:
            raise pytest.UsageError(*map(str, problem.problems)) from None
        except ValueError as problem:
            raise pytest.UsageError(f"--lro-command: {problem}") from None
        return profile if level is None else replace(profile, level=level)

    @property
    def edition(self) -> str:
        """The edition to judge by. If there is no valid profile, it is the default edition; `check_options` reports an
        invalid profile."""
        try:
            return self.profile.edition if self.profile is not None else DEFAULT_EDITION
        except pytest.UsageError:
            return DEFAULT_EDITION

    @cached_property
    def check_names(self) -> frozenset[str]:
        """Names of the checks whose requirements are in `edition`."""
        ids = {r.id for r in catalogue(self.edition)}
        return frozenset(c.name for c in checks() if c.requirement in ids)

    @property
    def missing_server(self) -> str:
        """Message for a run without a server."""
        folder = self._config.rootpath
        return f"no server to certify: pass --lro-command or --lro-profile, or put {PROFILE_NAME} into {folder}"

    def _names_in(self, items: Iterable[pytest.Item]) -> frozenset[str]:
        """Names of the checks among the items. If any item is a test that uses `lro_report`, the names of all
        checks."""
        names: set[str] = set()
        for item in items:
            check = getattr(item, "lro_check", None)
            if isinstance(check, Check):
                names.add(check.name)
            elif "lro_report" in getattr(item, "fixturenames", ()):
                names |= self.check_names
        return frozenset(names)

    # results

    def result(self, check: Check, items: Iterable[pytest.Item]) -> CheckResult:
        """The result of a collected check. The first call starts the run, for all collected checks."""
        if self.profile is None:
            return _not_observed(check, self.missing_server)
        self._items_ran = True
        report = self._certified(self._names_in(items) | {check.name})
        results = (c for r in report.requirements for c in r.checks)
        return next((c for c in results if c.name == check.name), None) or _not_observed(
            check, f"{report.edition} does not have {check.requirement}"
        )

    def full_report(self, items: Iterable[pytest.Item]) -> Report:
        """The report of all checks, collected or not. Fails the test if no server is named."""
        if self.profile is None:
            pytest.fail(self.missing_server, pytrace=False)
        return self._certified(self.check_names | self._names_in(items))

    def same_cause(self, id: str) -> str | None:
        """The id of the first requirement that fails for the same cause as *id*. None if *id* is itself the first or
        the only one."""
        all_causes = causes(self._report) if self._report is not None else []
        return next((cause.first.id for cause in all_causes if id in cause.ids[1:]), None)

    def _certified(self, names: frozenset[str]) -> Report:
        if self._report is not None and names <= self._checked_names:
            return self._report
        if self._problem is not None:
            raise RuntimeError("the run failed before: see the first error") from self._problem
        profile = self.profile
        assert profile is not None, "the callers check this"

        def run() -> Report:
            from lro_conformance.engine.run import certify

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
        except ProfileError as problem:  # problems that only the tools of the server reveal
            pytest.exit(str(problem), returncode=int(pytest.ExitCode.USAGE_ERROR))
        except Exception as problem:
            self._problem = problem
            raise
        self._checked_names = names
        return self._report

    # the end of the session

    def receive(self, data: bytes) -> None:
        """Receive the report of an xdist worker. Workers share runs, so the report with the most checks is kept."""
        report, checked_names, items_ran = pickle.loads(data)
        self._items_ran = self._items_ran or items_ran
        if self._report is None or len(checked_names) > len(self._checked_names):
            self._report, self._checked_names = report, checked_names

    def finish(self, session: pytest.Session) -> None:
        """Write the report, and fail the session if the claim does not hold."""
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:  # a worker: its controller does the rest
            if self._report is not None:
                output["lro_report"] = pickle.dumps((self._report, self._checked_names, self._items_ran))
            return
        if self._report is not None and self._options.lro_json is not None:
            write_json(self._report, Path(self._options.lro_json))
        if (
            session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
            and self._exit_code() != EXIT_OK
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def _claimed(self) -> int | None:
        """The level that has to be proved or attested. It is the level of ``--lro-level``.

        Without this option, it is the level of the profile if the report has all checks and any check ran as an item.
        Otherwise it is None.
        """
        if self._options.lro_level is not None:
            return self._options.lro_level
        is_complete = self._items_ran and self._checked_names >= self.check_names
        return self.profile.level if is_complete and self.profile is not None else None

    def _exit_code(self) -> int:
        """The exit code of `lro certify` for the checks of this session.

        If ``--lro-level`` is not given and no check ran as an item, it is `EXIT_OK`. In this case nothing was
        certified, or the result is left to the tests that use `lro_report`.
        """
        explicit = self._options.lro_level is not None
        if self._report is None:
            return EXIT_FAILED if explicit else EXIT_OK
        if not explicit and not self._items_ran:
            return EXIT_OK  # a test that uses lro_report decides
        return exit_code(replace(self._report, claimed=self._claimed))

    def summarize(self, terminal: Any) -> None:
        """Print the levels, and whether the session fails because of them."""
        terminal.section("Large Result Offloading")
        report = self._report
        if report is None:
            reason = "no check ran" if self.profile else self.missing_server
            terminal.line(f"nothing was certified: {reason}", yellow=True)
        else:
            self._summarize(replace(report, claimed=self._claimed), terminal)
        code = self._exit_code()
        if code != EXIT_OK or self._claimed is not None:
            terminal.line(f"{'result':<14}  {self._explanation(code)}", **_TONES["bad" if code != EXIT_OK else "good"])

    def _explanation(self, code: int) -> str:
        if code == EXIT_NO_VERDICT:
            return "there is no verdict, so the session fails"
        if self._claimed is None:
            return "a MUST is not met, so the session fails"
        level = self._report.levels.get(self._claimed) if self._report is not None else None
        return f"level {self._claimed} is " + (f"{level}" if code == EXIT_OK else "not proved, so the session fails")

    def _summarize(self, report: Report, terminal: Any) -> None:
        if not self._items_ran:  # no item has shown the failures
            for line in cause_lines(causes(report)):
                terminal.line(line)
        for line in failure_lines(report):
            terminal.line(f"no verdict      {line}", red=True)
        for fact in facts(report):
            terminal.line(f"{fact.label:<14}  {fact.text}", **_TONES.get(fact.tone, {}))
        judged, total = len(self._checked_names), len(self.check_names)
        if judged < total:
            message = f"{judged} of {total} checks; requirements of the others are unproved"
            terminal.line(f"{'selected':<14}  {message}", yellow=True)


def _not_observed(check: Check, reason: str) -> CheckResult:
    return CheckResult(check.name, check.requirement, Verdict.NOT_OBSERVED, 0, check.expectation, reason)


def _shared_by_workers(config: pytest.Config, names: Collection[str], run: Callable[[], Report]) -> Report:
    """The report of *run*; under xdist, one worker calls it and the others wait for its report."""
    base = config.option.basetemp if hasattr(config, "workerinput") else None
    if base is None or os.name != "posix":
        return run()
    import fcntl

    key = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]
    cache = Path(base).parent / f"lro-{key}.pickle"  # pytest's directory, which is private to the user
    with open(cache.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if cache.exists():
            return pickle.loads(cache.read_bytes())
        report = run()
        partial = cache.with_suffix(".partial")
        partial.write_bytes(pickle.dumps(report))
        partial.replace(cache)
        return report
