"""The conversation with a server, sound or not: every request ends, in bounded time, with a reply or one failure."""

import json
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from lro_conformance.wire.server import Limits, ServerProcess
from lro_conformance.wire.workspace import Workspace
from tests.support.wire_helpers import command

QUICK = Limits(request_timeout_s=10.0, start_timeout_s=10.0, stop_timeout_s=0.2, term_timeout_s=0.2)

Start = Callable[..., ServerProcess]


@pytest.fixture
def run() -> Iterator[Workspace]:
    with Workspace(limits=QUICK) as run:
        yield run


@pytest.fixture
def start(run: Workspace) -> Start:
    """Starts a server of ``wire_servers`` and shakes hands with it."""

    def start(name: str, *arguments: str | bytes, limits: Limits = QUICK) -> ServerProcess:
        server = run.server(command(name, *arguments), limits=limits)
        assert server.start() is None
        assert server.initialize().ok, server.stderr
        return server

    return start


def kinds(server: ServerProcess) -> dict[str, int]:
    return dict(server.transcript.counts)


def test_a_sound_server_is_talked_to_without_any_anomaly(start: Start) -> None:
    server = start("sound")
    begun = time.monotonic()
    reply = server.request("echo", {"text": "käse\u2028\ud800", "n": 2**70})
    took = time.monotonic() - begun

    assert reply.ok
    assert reply.result == {"echo": {"text": "käse\u2028\ud800", "n": 2**70}}
    assert json.loads(reply.request)["params"]["n"] == 2**70
    assert reply.raw is not None
    assert json.loads(reply.raw)["id"] == reply.id
    assert 0 < reply.elapsed_s <= took
    assert abs(reply.sent_at - time.time()) < 5
    assert server.server_info == {"name": "small", "version": "1"}
    assert server.protocol_version == "2025-11-25"
    assert not server.offers_logging
    assert kinds(server) == {}
    said = [(m.direction, m.parsed.get("method")) for m in server.transcript]
    assert said == [
        ("out", "initialize"),
        ("in", None),
        ("out", "notifications/initialized"),
        ("out", "echo"),
        ("in", None),
    ]


def test_the_handshake_names_the_suite_and_the_protocol(start: Start) -> None:
    server = start("sound")
    sent = next(iter(server.transcript)).parsed["params"]
    assert sent["protocolVersion"] == "2025-11-25"
    assert sent["capabilities"] == {}
    assert sent["clientInfo"]["name"] == "lro-certify"
    assert sent["clientInfo"]["version"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["no-such-command-anywhere"], "not on the PATH"),
        (["/no/such/file"], "there is no such file"),
        ([__file__], "not executable"),
        (["nul\0byte"], "cannot start"),
        ([], "command is empty"),
    ],
)
def test_a_command_that_cannot_start_is_one_failure(run: Workspace, argv: list[str], words: str) -> None:
    server = run.server(argv)
    failure = server.start()

    assert failure is not None
    assert failure.kind == "not-started"
    assert words in failure.detail
    assert server.initialize().failure == failure
    assert not server.alive
    assert server.close() is None


def test_a_missing_working_directory_is_named(run: Workspace) -> None:
    failure = run.server([sys.executable], cwd="/no/such/folder").start()
    assert failure is not None
    assert "/no/such/folder" in failure.detail


@pytest.mark.parametrize(
    ("name", "kind", "words", "stderr"),
    [
        ("exits-at-once", "exited", "exited with code 3", "no database"),
        ("dies-of-a-signal", "exited", "SIGSEGV", "about to crash"),
        ("hangs-at-initialize", "timeout", "within 0.8 s", "waiting for a lock"),
        ("prints-garbage", "garbage", "Welcome to my server!", ""),
    ],
)
def test_a_failed_handshake_tells_the_exit_and_the_end_of_stderr(
    run: Workspace, name: str, kind: str, words: str, stderr: str
) -> None:
    server = run.server(command(name))
    server.start()
    begun = time.monotonic()
    failure = server.initialize(timeout_s=0.8 if kind != "exited" else 10).failure

    assert failure is not None
    assert failure.kind == kind
    assert words in failure.detail
    assert stderr in failure.stderr
    assert time.monotonic() - begun < 5


def test_garbage_that_came_before_the_first_request_is_told_with_it(run: Workspace) -> None:
    server = run.server(command("prints-garbage"))
    server.start()
    assert server.drain(10, until=lambda: len(server.transcript.anomalies) == 2)
    failure = server.initialize(timeout_s=0.3).failure

    assert failure is not None
    assert failure.kind == "garbage"
    assert "Welcome to my server!" in failure.detail


def test_a_server_that_exits_during_a_call_is_noticed_at_once(start: Start) -> None:
    server = start("exits-when-called")
    reply = server.request("anything", timeout_s=20)

    assert reply.failure is not None
    assert reply.failure.kind == "exited"
    assert reply.failure.exit is not None
    assert reply.failure.exit.code == 7
    assert reply.elapsed_s < 5
    assert not server.alive
    assert server.request("again").failure is not None
    assert server.close() == server.exit
    assert server.exit is not None
    assert not server.exit.killed


def test_an_answer_that_was_written_before_the_exit_counts(start: Start) -> None:
    reply = start("answers-and-exits").request("last", timeout_s=10)
    assert reply.ok
    assert len(reply.result["big"]) == 300_000


def test_half_a_line_at_exit_is_recorded_and_no_answer(start: Start) -> None:
    server = start("half-a-line-at-exit")
    reply = server.request("anything", timeout_s=10)
    assert reply.failure is not None
    assert [m.problem for m in server.transcript][-1] == "not-json"
    assert kinds(server) == {"not-json": 1, "unterminated": 1}


def test_a_whole_answer_without_a_newline_at_exit_counts_and_is_noted(start: Start) -> None:
    server = start("no-newline-at-exit")
    assert server.request("anything", timeout_s=10).ok
    assert kinds(server) == {"unterminated": 1}


def test_a_closed_stdout_ends_the_wait_early(start: Start) -> None:
    server = start("closes-stdout")
    reply = server.request("anything", timeout_s=20)
    assert reply.failure is not None
    assert reply.failure.kind == "closed"
    assert reply.elapsed_s < 5
    assert server.alive
    assert kinds(server) == {"stdout-closed": 1}


def test_a_closed_stdin_ends_the_wait_early(start: Start) -> None:
    server = start("closes-stdin")
    server.drain(0.2)
    reply = server.request("anything", {"text": "x" * 300_000}, timeout_s=20)
    assert reply.failure is not None
    assert reply.failure.kind == "closed"
    assert reply.elapsed_s < 5
    assert kinds(server) == {"stdin-closed": 1}


def test_a_server_that_never_reads_costs_one_time_limit(start: Start) -> None:
    server = start("never-reads")
    reply = server.request("anything", {"text": "x" * 5_000_000}, timeout_s=0.5)
    assert reply.failure is not None
    assert reply.failure.kind == "timeout"
    assert reply.elapsed_s < 5


def test_a_large_request_gets_through_while_stderr_is_flooded(start: Start) -> None:
    server = start("floods-stderr-before-reading")
    reply = server.request("echo", {"text": "x" * 5_000_000}, timeout_s=20)
    assert reply.ok
    assert len(reply.result["echo"]["text"]) == 5_000_000
    assert len(server.stderr) <= QUICK.stderr_bytes
    assert server.stderr_lines()[-1] == "noise on stderr, line after line"


@pytest.mark.parametrize("name", ["floods-stderr-for-ever", "floods-notifications", "floods-pings", "endless-line"])
def test_a_flood_extends_no_time_limit_and_fills_no_memory(start: Start, name: str) -> None:
    limits = Limits(max_line_bytes=1 << 20, transcript_bytes=4 << 20, max_chatter=500, stop_timeout_s=0.1)
    server = start(name, limits=limits)
    reply = server.request("anything", timeout_s=0.6)

    assert reply.failure is not None
    assert reply.elapsed_s < 10  # what extends it for each line would have no end
    assert reply.failure.kind == ("too-large" if name == "endless-line" else "timeout")
    assert server.transcript.kept_bytes <= 4 << 20
    assert len(server.transcript) < 600
    if name != "endless-line":
        assert server.transcript.dropped > 500
    exit = server.close()
    assert exit is not None
    assert exit.seconds < 10


def test_a_server_that_answers_nothing_is_waited_for_only_so_often(start: Start) -> None:
    limits = Limits(request_timeout_s=0.3, stop_timeout_s=0.1, term_timeout_s=0.1, max_unanswered=2)
    server = start("never-reads", limits=limits)
    kinds = [failure.kind for _ in range(30) if (failure := server.request("anything").failure) is not None]
    assert kinds == ["timeout"] * 2 + ["unanswered"] * 28


def test_pipelined_requests_are_waited_for_in_any_order(start: Start) -> None:
    server = start("answers-in-reverse")
    first, second, third = (server.send("echo", {"n": n}) for n in range(3))
    assert server.wait(second).result == {"echo": {"n": 1}}
    assert server.wait(first).result == {"echo": {"n": 0}}
    assert server.wait(third).result == {"echo": {"n": 2}}
    assert kinds(server) == {}
    with pytest.raises(KeyError):
        server.wait(third)


def test_a_late_answer_is_told_apart_and_harms_no_later_request(start: Start) -> None:
    server = start("answers-late")
    slow = server.request("slow", timeout_s=0.05)
    quick = server.request("quick", {"n": 2}, timeout_s=5)
    assert slow.failure is not None
    assert slow.failure.kind == "timeout"
    assert quick.result == {"echo": {"n": 2}}
    assert kinds(server) == {"late": 1}
    cancelled = [m.parsed for m in server.transcript if b"cancelled" in m.line]
    assert cancelled[0]["params"]["requestId"] == slow.id


def test_a_second_answer_is_a_duplicate_and_the_first_one_counts(start: Start) -> None:
    server = start("answers-twice")
    assert server.request("a").result == {"n": 1}
    assert server.request("b").result == {"n": 1}
    server.drain(5, lambda: kinds(server).get("duplicate-id") == 2)
    assert kinds(server) == {"duplicate-id": 2}


def test_an_answer_from_before_the_request_does_not_count(start: Start) -> None:
    server = start("answers-before-it-is-asked")
    assert server.request("a").result == {"honest": True}
    time.sleep(1)
    assert server.request("b").result == {"honest": True}
    assert kinds(server)["unknown-id"] >= 1


def test_garbage_between_messages_is_recorded_and_passed_over(start: Start) -> None:
    server = start("garbage-between")
    reply = server.request("a", {"n": 1})
    server.drain(5, lambda: kinds(server).get("not-json") == 2)
    assert reply.result == {"echo": {"n": 1}}
    assert kinds(server) == {"blank": 1, "not-json": 2, "not-an-object": 2, "not-a-message": 1}
    assert "garbage" in str(server.transcript.anomalies[1])


@pytest.mark.parametrize(
    ("answer", "result", "problems"),
    [
        (b'{"jsonrpc":"2.0","id":ID,"result":"caf\xe9"}\n', "caf\N{REPLACEMENT CHARACTER}", ["invalid-utf8"]),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":ID,"result":1}\n', 1, ["bom"]),
        (b'{"jsonrpc":"2.0","id":ID,"result":[1,2]}\r\n', [1, 2], []),
        (b'{"jsonrpc":"2.0","id":ID,"result":-Infinity}\n', float("-inf"), ["constant"]),
        (b'{"jsonrpc":"1.0","id":ID,"result":1}\n', 1, ["jsonrpc-version"]),
        (b'{"id":ID,"result":1}\n', 1, ["jsonrpc-version"]),
        (b'{"jsonrpc":"2.0","id":"ID","result":1}\n', 1, ["id-type"]),
        (b'{"jsonrpc":"2.0","id":null,"result":1}\n', 1, ["null-id"]),
        (b'[{"jsonrpc":"2.0","id":ID,"result":1}]\n', 1, ["batch"]),
        (b'{"jsonrpc":"2.0","id":ID,"result":1,"error":{"code":1,"message":"m"}}\n', 1, ["result-and-error"]),
        (b'{"jsonrpc":"2.0","id":ID,"error":"no"}\n', None, ["error-shape"]),
        (b'{"jsonrpc":"2.0","id":ID,"result":9007199254740993}\n', 2**53 + 1, []),
    ],
)
def test_an_odd_answer_is_understood_and_what_is_odd_is_named(
    start: Start, answer: bytes, result: object, problems: list[str]
) -> None:
    server = start("writes", answer)
    reply = server.request("anything")
    assert reply.failure is None
    assert reply.result == result
    assert [kind for kind, _ in reply.problems] == problems
    assert list(server.transcript.counts) == problems


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b'{"jsonrpc":"2.0","id":ID,"result":' + b"[" * 60_000 + b"]" * 60_000 + b"}\n", "too-deep"),
        (b'{"jsonrpc":"2.0","id":ID,"result":' + b"9" * 60_000 + b"}\n", "not-json"),
        (b'{"jsonrpc":"2.0","id":ID,"result":nothing}\n', "not-json"),
        (b'{"result":{},"id":ID,}\n', "not-json"),
        (b'{"jsonrpc":"2.0","id":ID}\n', "not-a-message"),
    ],
)
def test_an_answer_that_cannot_be_read_fails_its_request_and_nothing_else(
    start: Start, answer: bytes, problem: str
) -> None:
    server = start("writes", answer)
    reply = server.request("anything", timeout_s=3)
    assert reply.failure is not None
    assert reply.failure.kind == "garbage"
    assert kinds(server) == {problem: 1}
    assert server.alive


def test_a_time_limit_tells_what_came_instead(start: Start) -> None:
    server = start("writes", b'{"jsonrpc":"2.0","id":"another","result":1}\n')
    failure = server.request("anything", timeout_s=0.3).failure
    assert failure is not None
    assert failure.kind == "timeout"
    assert "never made: id 'another'" in failure.detail


def test_requests_of_the_server_are_answered_or_refused(start: Start) -> None:
    server = start("asks-the-client")
    ping, roots, sampling = server.request("anything").result
    assert ping == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert (roots["id"], roots["error"]["code"]) == (2, -32601)
    assert (sampling["id"], sampling["error"]["code"]) == (3, -32601)
    assert kinds(server) == {"server-request": 2}


def test_a_handshake_with_wrong_types_is_tolerated(start: Start) -> None:
    server = start("odd-initialize")
    assert (server.server_info, server.capabilities, server.protocol_version) == ({}, {}, None)


@pytest.mark.parametrize(("kind", "count", "noted"), [("three", 3, False), ("loop", 2, True), ("endless", 100, True)])
def test_tools_are_listed_over_all_pages_but_not_for_ever(start: Start, kind: str, count: int, noted: bool) -> None:
    server = start("pages", kind)
    tools, reply = server.list_tools(timeout_s=20)
    assert reply.ok
    assert [tool["name"] for tool in tools] == [f"tool{n}" for n in range(count)]
    assert ("paging" in kinds(server)) is noted
    assert kinds(server)["list-entry"] == count


def test_drain_collects_notifications_until_told_to_stop(start: Start) -> None:
    server = start("long-line", "10", "notification")
    server.request("anything")
    assert server.drain(5, lambda: len(server.notifications("notifications/message")) == 1)
    assert server.notifications()[0]["params"] == {"data": "x" * 10}
    assert not server.drain(0.01, lambda: False)
