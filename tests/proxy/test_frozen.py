"""A client gets from the proxy what it got when tests/data/frozen was recorded."""

from __future__ import annotations

import json

import pytest

from tests.support.frozen_proxy import OPTIONS, TRANSCRIPTS, transcripts


@pytest.fixture(scope="module")
def now() -> dict[str, list[list[object]]]:
    return transcripts()


@pytest.mark.parametrize("options", OPTIONS)
def test_each_message_is_answered_as_it_was(now: dict[str, list[list[object]]], options: str) -> None:
    kept = json.loads(TRANSCRIPTS.read_text(encoding="utf-8"))[options]
    for was, found in zip(kept, now[options], strict=True):
        assert found == was
