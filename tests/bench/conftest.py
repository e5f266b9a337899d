"""What all tests of lro-bench need."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

MISSING = [package for package in ("bpe_openai", "inspect_ai") if find_spec(package) is None]


def pytest_runtest_setup() -> None:
    """Skip without the extra, whose packages take seconds to import, so that none is imported to collect the tests."""
    if MISSING:
        pytest.skip(f"{', '.join(MISSING)} is not installed (extra: bench)")
