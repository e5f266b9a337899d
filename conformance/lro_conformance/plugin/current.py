"""The run of the current pytest session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lro_conformance.plugin.run import PytestRun

RUN_KEY = pytest.StashKey["PytestRun"]()


class LroWarning(UserWarning):
    """A check with a *warn*: a recommendation that the server does not meet, a value that not every reader understands,
    or a defect of the specification that was observed."""


def run_of(config: pytest.Config) -> PytestRun:
    """The run of this pytest session, created on first use."""
    run = config.stash.get(RUN_KEY, None)
    if run is None:
        # imported here, because every pytest session loads this module
        from lro_conformance.plugin.run import PytestRun

        run = config.stash[RUN_KEY] = PytestRun(config)
    return run
