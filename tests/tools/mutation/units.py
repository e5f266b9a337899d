"""Unit tests as trials of mutants: collected once, then each run in the process that holds the mutant."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from tests.support.ending import LIMIT
from tests.tools.mutation.mutants import ROOT, Mutant
from tests.tools.mutation.trying import TEST

OPT_IN = ("long", "registry")


class Units:
    """Tests of some files, those left out that are opt-in."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items: Mapping[str, pytest.Item] = {
            item.nodeid: item for item in items if not any(item.get_closest_marker(m) for m in OPT_IN)
        }

    def trials(self) -> Sequence[str]:
        """The ids of the tests."""
        return list(self._items)

    def measure(self, trial: str) -> Any:
        """Whether the test holds."""
        reports = runtestprotocol(self._items[trial], log=False, nextitem=None)
        return not any(report.failed for report in reports)

    def difference(self, before: Any, after: Any) -> str | None:
        """A test that held and does so no more."""
        return TEST if before and not after else None

    def rank(self, trial: str, mutant: Mutant, before: Any) -> int:
        """The quickest first."""
        return 0


def with_units(files: Sequence[str], use: Callable[[Units], None]) -> None:
    """Collect the tests of these files, and call *use* with them. Raises `RuntimeError` where that is not possible."""
    # The same examples each time, so that a mutant does not live by chance; and no plugin that ends what takes long.
    # A counterexample is enough, however large.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutation", derandomize=True, database=None, deadline=None, phases=phases)
    settings.load_profile("mutation")
    os.environ.setdefault(LIMIT, "0.9")
    without = [f"-pno:{name}" for name in ("timeout", "xdist", "cacheprovider", "randomly")]
    # Nobody reads why a test fails, so nothing is made of it.
    without += ["--assert=plain", "--tb=native", "--import-mode=importlib"]
    paths = [str(ROOT / "tests" / file) for file in files]
    loop = _Loop(use)
    code = pytest.main(
        ["-c", os.devnull, "--rootdir", str(ROOT), "-q", "--no-header", *without, *paths], plugins=[loop]
    )
    if not loop.done:
        raise RuntimeError(f"pytest did not collect the tests: exit code {code}")


class _Loop:
    """What pytest does in place of running tests."""

    def __init__(self, use: Callable[[Units], None]) -> None:
        self.use = use
        self.done = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            return True
        self.use(Units(session.items))
        self.done = True
        return True
