"""Vectors ask for hundreds of judgements, none of which is about processes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.shared_jq import one_jq_process


@pytest.fixture(autouse=True, scope="module")
def jq_starts_once() -> Iterator[None]:
    with one_jq_process():
        yield
