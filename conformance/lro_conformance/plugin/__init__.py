"""The checks under plain pytest: ``pytest --pyargs lro_conformance --lro-profile lro.yaml``.

This module is loaded by every pytest run in the environment. So it imports the rest of the suite only if one of its
options is given, a check is collected, or the fixture `lro_report` is requested.

Only the collected checks are run, so checks can be selected with ``-k`` and ``-m``. But if a test uses `lro_report`,
all checks are run. The trials that the checks need are run once, when the first result is needed.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lro_conformance import PROFILE_NAME
from lro_conformance.plugin.current import RUN_KEY, LroWarning, run_of

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report

__all__ = ["LroWarning"]  # users name this class in warning filters; pytest finds the hooks without this list

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name a server, the level that is claimed for it, and the files to write."""
    group = parser.getgroup("lro", "Large Result Offloading (checks: --pyargs lro_conformance)")
    group.addoption("--lro-profile", metavar="FILE", help=f"server profile (default: {PROFILE_NAME} in the rootdir)")
    group.addoption("--lro-command", metavar="COMMAND", help="command that starts the server, as one argument")
    level_help = "fail unless level N is proved or attested"
    group.addoption("--lro-level", metavar="N", type=int, choices=(1, 2, 3), help=level_help)
    group.addoption("--lro-seed", metavar="N", type=int, help="repeat the random choices of an earlier run")
    group.addoption("--lro-json", metavar="FILE", help="write the report to FILE as JSON")
    group.addoption(
        "--lro-evidence", metavar="DIR", help="keep everything that is observed in DIR, for `lro judge DIR`"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and reject invalid options before collection."""
    config.addinivalue_line("markers", "lro(id, group, keyword, level): a check of the LRO conformance suite")
    option = config.option
    # absolute paths, because workers of xdist may run elsewhere, and tests change the directory
    for name in ("lro_profile", "lro_json", "lro_evidence"):
        if getattr(option, name) is not None:
            setattr(option, name, os.path.abspath(getattr(option, name)))
    names = ("profile", "command", "level", "seed", "json", "evidence")
    if any(getattr(option, f"lro_{name}") is not None for name in names) and not _is_worker(config):
        run_of(config).check_options()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the suite's files as checks, whatever patterns the user has configured."""
    collectors = yield
    if not _is_in_suite(file_path):
        return collectors
    if "checks" not in file_path.parts or not file_path.name.startswith("test_"):
        return []
    from lro_conformance.plugin.items import CheckFile

    return [CheckFile.for_path(parent, file_path)]


def _is_in_suite(path: Path) -> bool:
    text = str(path)
    if text.startswith(PACKAGE + os.sep):
        return True
    return "lro_conformance" in text and os.path.realpath(text).startswith(os.path.realpath(PACKAGE) + os.sep)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Report an invalid profile once, here, and not in every item."""
    config = session.config
    if _is_worker(config) or config.option.collectonly or not _needs_run(session.items):
        return
    run_of(config).check_options()


def _needs_run(items: list[pytest.Item]) -> bool:
    return any(hasattr(item, "lro_check") or "lro_report" in getattr(item, "fixturenames", ()) for item in items)


@pytest.fixture(scope="session")
def lro_report(request: pytest.FixtureRequest) -> Report:
    """The report of a complete run against the server of the profile; there is one run per session.

    ``assert lro_report.achieved >= 2`` certifies a server inside its own test suite.
    """
    return run_of(request.config).full_report(request.session.items)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, and fail the session if the claim does not hold."""
    run = session.config.stash.get(RUN_KEY, None)
    if run is not None and not session.config.option.collectonly:
        run.finish(session)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the levels and their effect on the session."""
    run = config.stash.get(RUN_KEY, None)
    if run is not None and not config.option.collectonly:
        run.summarize(terminalreporter)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Receive the report of an xdist worker, so that the controller can show it."""
    data = getattr(node, "workeroutput", {}).get("lro_report")
    if data is not None:
        run_of(node.config).receive(data)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
