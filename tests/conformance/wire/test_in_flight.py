"""Requests that are sent together reach the server together."""

from __future__ import annotations

import sys

import pytest

from lro_conformance.wire.server import ServerProcess

COUNTS = """\
import json, os
while data := os.read(0, 1 << 20):
    lines = data.splitlines()
    for line in lines:
        answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"together": len(lines)}}
        os.write(1, json.dumps(answer).encode() + b"\\n")
"""
"""A server that answers with the number of requests that it read at once."""


@pytest.mark.parametrize("number", [1, 2, 150])
def test_requests_arrive_together(number: int) -> None:
    with ServerProcess([sys.executable, "-S", "-E", "-c", COUNTS]) as server:
        assert server.request("one").result == {"together": 1}
        with server.at_once():
            ids = [server.send("each", {"n": n}) for n in range(number)]
        assert [server.wait(id).result for id in ids] == [{"together": number}] * number
        assert server.request("one").result == {"together": 1}


def test_nothing_is_sent_to_a_server_that_has_ended() -> None:
    with ServerProcess([sys.executable, "-S", "-E", "-c", "pass"]) as server:
        server.drain(0.2, lambda: not server.alive)
        with server.at_once():
            ids = [server.send("each"), server.send("each")]
        assert [server.wait(id, 0.5).ok for id in ids] == [False, False]


def test_a_server_that_was_never_started_fails_each_request() -> None:
    server = ServerProcess([])
    server.start()
    with server.at_once():
        id = server.send("each")
    assert not server.wait(id).ok
