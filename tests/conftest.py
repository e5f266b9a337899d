"""What all tests share: the opt-in for long ones, and the certifications that go on side by side."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.certifying import Job, Outcome, side_by_side
from tests.support.certifying import certified as certify_job
from tests.support.registry import Installed

# A shell starts what runs in the background with these ignored; servers and suites under test must not inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


# While tests are collected nothing is garbage, and each process collects them all; pytest_collection_finish enables it.
gc.disable()


os.environ["LRO_GAIN"] = "off"  # the record of lro proxy is its user's

# A machine that is busy otherwise makes no test fail; in CI, nor does what a change has not brought: examples there are
# the same each time, elsewhere always others.
settings.register_profile(
    "unhurried", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("the same again", settings.get_profile("unhurried"), max_examples=40)
settings.load_profile("unhurried")


TOGETHER = {
    f"tests/{name}.py"
    for name in (
        "bench/test_models",
        "bench/test_run",
        "bench/test_weigh",
        "conformance/cli/test_certify_reference",
        "conformance/evidence/test_earlier_releases",
        "conformance/evidence/test_every_edition",
        "conformance/evidence/test_evidence",
        "conformance/evidence/test_secrets",
        "conformance/explorers/test_replay",
        "conformance/report/test_html_browser",
        "conformance/report/test_pictures",
        "conformance/vectors/test_runners",
        "golden/test_checks",
        "project/test_packaging",
        "project/test_site",
        "project/test_write_a_check",
        "proxy/payload/test_forms",
        "proxy/payload/test_recipes",
        "proxy/payload/test_records",
        "proxy/test_real_servers",
        "tools/mutation/test_mutation",
    )
}
"""Files whose tests share what takes long to make or to import; each goes to one of the processes side by side."""


QUICK = ("tests/golden/", "tests/spec/")
"""Folders whose tests take milliseconds. They come last, since at the end a long test keeps but one process busy."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Which test goes to which process. The marks that xdist has for this are lost under pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if file in TOGETHER else nodeid

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """Forget what is complete, too: xdist counts all that a process was ever given after each test."""
            super().mark_test_complete(node, item_index, duration)
            given, scope = self.assigned_work[node], self._split_scope(self.registered_collections[node][item_index])
            if all(given[scope].values()):
                del given[scope]

    return Scheduling(config, log)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through the tests again and again, which live as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as `lro certify` does
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples where they are those of every other run."""
    if "CI" in os.environ and not config.getoption("--long"):
        settings.load_profile("the same again")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    long = [] if config.getoption("--long") else [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    items.sort(key=lambda item: item.nodeid.startswith(QUICK))


@pytest.fixture(scope="session")
def certified(request: pytest.FixtureRequest, worker_id: str) -> Iterator[Callable[[Job], Outcome]]:
    """What the certification of a job found; the jobs of the tests that come next are under way meanwhile."""
    if worker_id != "master":
        # what comes next here may be another process's: it would be done twice, and by more processes than cores
        yield cache(certify_job)
        return
    with side_by_side(job for item in request.session.items for job in _jobs(item)) as outcome:
        yield outcome


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Installed:
    """Servers from public registries; test processes that run side by side share them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "registry"
    folder.mkdir(exist_ok=True)
    return Installed(folder)


def _jobs(item: pytest.Item) -> list[Job]:
    callspec = getattr(item, "callspec", None)
    if callspec is None or item.get_closest_marker("skip"):
        return []
    return [value for value in callspec.params.values() if isinstance(value, Job)]
