"""Scripts in which the suite's generator prints the memories that a server stored, so that they stay short."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lro_conformance.capture import reproduce
from lro_conformance.capture.corpus import SETS, Memory, large, store_request
from lro_conformance.capture.reproduce import (
    MAX_BYTES,
    RESTART,
    Conversation,
    Generated,
    of_call_in_context,
    requests_before,
)
from lro_conformance.capture.start import Start
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.wire import jsonrpc
from tests.support.private import inner

TEMPLATE = {"memory": "$memory"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/logLevel": 'it\'s "debug"'}
OTHER = large(5_000)


def stored(memories: Sequence[Memory], meta: Mapping[str, Any] | None = None) -> list[bytes]:
    return [store_request(memory, "store", TEMPLATE, n, meta) for n, memory in enumerate(memories, 2)]


def start(requests: Sequence[bytes], opening: str = "initialize") -> Start:
    sent = [jsonrpc.request(1, opening, {}), *requests]
    folder = Path("/servers/0001")
    seed = "store", json.dumps(TEMPLATE)
    of: Any = Start
    return of(
        1,
        ("server",),
        {},
        (),
        folder,
        folder,
        folder / "tmp",
        {},
        None,
        seed=seed,
        python=sys.executable,
        sent=lambda: sent,
    )


def sent_by(items: Sequence[bytes | str | Generated]) -> list[bytes]:
    """The lines that a server gets from these items of a script."""
    lines: list[bytes] = []
    for item in items:
        if isinstance(item, bytes):
            lines.append(item)
        else:
            command = item.command if isinstance(item, Generated) else item
            done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=60)
            lines += done.stdout.splitlines()
    return lines


@pytest.mark.parametrize("meta", [None, META])
@pytest.mark.parametrize("memories", [SETS["corpus"](), SETS["growing"]()[:90], (OTHER, *SETS["wide"](), OTHER)])
def test_a_script_sends_the_same_requests_in_few_characters(
    memories: Sequence[Memory], meta: Mapping[str, Any] | None
) -> None:
    requests = stored(memories, meta)
    assert sum(map(len, requests)) > MAX_BYTES
    items = requests_before(start(requests), range(2, 2 + len(requests)))
    assert sent_by(items[1:]) == requests
    assert sum(map(len, items)) < 15_000


def test_few_memories_are_written_out() -> None:
    requests = stored(SETS["corpus"]()[:3])
    assert requests_before(start(requests), [2, 3, 4])[1:] == requests


def test_a_complete_conversation_sends_the_memories_too() -> None:
    script = reproducer_of(Conversation(start(stored(SETS["corpus"](), META), "server/discover")))
    assert "lro_conformance.capture corpus store" in script
    assert len(script) < 5_000


def test_a_script_that_would_be_too_long_keeps_the_call_itself() -> None:
    queries = ("before" * 1_000, "itself" * 4_000, "after" * 1_000)
    sent = [
        jsonrpc.request(id, "tools/call", {"name": "recall", "arguments": {"query": query}})
        for id, query in enumerate(queries, 2)
    ]
    reply = SimpleNamespace(id=3, request=sent[1], raw=None, elapsed_s=0.1)
    one: Any = SimpleNamespace(start=start(sent), before=(), reply=reply)
    script = of_call_in_context(one)
    assert queries[0] not in script
    assert queries[1] in script
    assert queries[2] in script


def test_a_process_that_continues_with_stored_memories_is_preceded_by_one_that_stores_them() -> None:
    with_data: Any = inner(reproduce, "_with_data")
    memories = stored([OTHER, OTHER])
    opening = jsonrpc.request(1, "initialize", {})
    later = replace(start([]), seeded=(start(memories), (2, 3)))
    assert with_data(later, ()) == [opening, *memories, RESTART, opening]
    assert with_data(replace(start(memories), seeded=later.seeded), [2, 3]) == [opening, *memories, "sleep 1"]
    assert with_data(start([]), ()) == [opening]
    kept = replace(start(memories), seeded=later.seeded)  # the store lasted, and one more memory went to it
    assert with_data(kept, [3]) == [opening, *memories, RESTART, opening, memories[1], "sleep 1"]
