"""The checks under plain pytest: ``pytest --pyargs lro_conformance --lro-profile lro.yaml``.

Every pytest run of the environment loads this module, so it imports nothing of the suite before a check is collected or
`lro_report` is asked for. What pytest collects is what runs: ``-k`` and ``-m`` choose checks, and only the trials that
those need are made, once, when the first of them is due.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lro_conformance.pytest_run import PytestRun
    from lro_conformance.report.model import Report

PACKAGE = os.path.dirname(os.path.abspath(__file__))
CHECKS = os.path.join(PACKAGE, "checks")
PROFILE_NAME = "lro.yaml"

_run = pytest.StashKey["PytestRun"]()


class LroWarning(UserWarning):
    """A SHOULD that a server does not meet, or a defect of the specification's text that showed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options that name a server and what is claimed of it."""
    group = parser.getgroup("lro", "Large Result Offloading (checks: --pyargs lro_conformance)")
    group.addoption(
        "--lro-profile", metavar="FILE", help=f"the server's profile (default: {PROFILE_NAME} of the rootdir)"
    )
    group.addoption("--lro-command", metavar="COMMAND", help="the command that starts the server, as one argument")
    group.addoption("--lro-level", metavar="N", type=int, choices=(1, 2, 3), help="fail unless level N is proved")
    group.addoption("--lro-seed", metavar="N", type=int, help="replay the choices of an earlier run")
    group.addoption("--lro-json", metavar="FILE", help="write the report")
    group.addoption("--lro-evidence", metavar="DIR", help="keep all that was observed, for lro judge DIR")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker, and refuses options that cannot be meant before anything is collected."""
    config.addinivalue_line("markers", "lro(id, group, keyword, level): a check of the LRO conformance suite")
    option = config.option
    for name in (
        "lro_profile",
        "lro_json",
        "lro_evidence",
    ):  # absolute: workers of xdist may run elsewhere, and tests change folders
        if getattr(option, name) is not None:
            setattr(option, name, os.path.abspath(getattr(option, name)))
    names = ("profile", "command", "level", "seed", "json", "evidence")
    if any(getattr(option, f"lro_{name}") is not None for name in names) and not _is_worker(config):
        run_of(config).check_options()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """The suite's files are collected as checks, whatever the patterns of the user's configuration say."""
    found = yield
    if not _is_ours(file_path):
        return found
    if file_path.parent.name != "checks" or not file_path.name.startswith("test_"):
        return []
    from lro_conformance.pytest_items import CheckFile

    return [CheckFile.at(parent, file_path)]


def _is_ours(path: Path) -> bool:
    text = str(path)
    if text.startswith(PACKAGE + os.sep):
        return True
    return "lro_conformance" in text and os.path.realpath(text).startswith(os.path.realpath(PACKAGE) + os.sep)


def pytest_collection_finish(session: pytest.Session) -> None:
    """A profile that is wrong ends the run here, once, and not in every item."""
    config = session.config
    if _is_worker(config) or config.option.collectonly or not _wanted(session.items):
        return
    run_of(config).check_options()


def _wanted(items: list[pytest.Item]) -> bool:
    return any(hasattr(item, "lro_check") or "lro_report" in getattr(item, "fixturenames", ()) for item in items)


@pytest.fixture(scope="session")
def lro_report(request: pytest.FixtureRequest) -> Report:
    """The report of a whole run against the server of the profile; the run is made once a session.

    ``assert lro_report.achieved >= 2`` certifies a server inside its own test suite.
    """
    return run_of(request.config).whole_report(request.session.items)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the report, and fails the session where what is claimed was not proved."""
    run = session.config.stash.get(_run, None)
    if run is not None and not session.config.option.collectonly:
        run.finish(session)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints the levels, and what that means for the session."""
    run = config.stash.get(_run, None)
    if run is not None and not config.option.collectonly:
        run.summarize(terminalreporter)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes the report of an xdist worker, to show it where the user looks."""
    sent = getattr(node, "workeroutput", {}).get("lro_report")
    if sent is not None:
        run_of(node.config).receive(sent)


def run_of(config: pytest.Config) -> PytestRun:
    """The one run of this pytest session; made when first asked for, started when first needed."""
    run = config.stash.get(_run, None)
    if run is None:
        from lro_conformance.pytest_run import PytestRun

        run = config.stash[_run] = PytestRun(config)
    return run


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
