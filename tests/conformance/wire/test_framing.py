"""Lines, their cap and the memory that they may take."""

import subprocess
import sys
from pathlib import Path

import pytest

from lro_conformance.wire.framing import EXCERPT_BYTES, Line, LineSplitter
from lro_conformance.wire.server import Limits
from lro_conformance.wire.transcript import Transcript
from lro_conformance.wire.workspace import Workspace
from tests.support.wire_helpers import command


def split(data: bytes, step: int, cap: int) -> list[Line]:
    splitter = LineSplitter(cap)
    lines = [line for i in range(0, len(data), step) for line in splitter.feed(data[i : i + step])]
    rest = splitter.finish()
    return lines + ([rest] if rest else [])


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_lines_are_the_same_however_the_stream_is_chunked(step: int) -> None:
    lines = split(b"one\n\ntwo\r\n" + b"long" * 100 + b"\nlast", step, cap=50)
    assert [line.data for line in lines] == [b"one", b"", b"two\r", (b"long" * 100)[:50], b"last"]
    assert [line.size for line in lines] == [3, 0, 4, 400, 4]
    assert [line.too_large for line in lines] == [False, False, False, True, False]
    assert [line.terminated for line in lines] == [True, True, True, True, False]


@pytest.mark.parametrize("step", [1, 999, 4096, 100_000])
def test_both_ends_of_a_line_over_the_cap_are_kept(step: int) -> None:
    data = b"head" + b"." * 50_000 + b"tail"
    (line,) = split(data + b"\n", step, cap=20_000)
    assert line.size == len(data)
    assert line.data == data[:EXCERPT_BYTES]
    assert line.tail == data[-EXCERPT_BYTES:]


def test_a_line_of_exactly_the_cap_is_kept_whole() -> None:
    kept, over = split(b"x" * 10 + b"\n" + b"x" * 11 + b"\n", 4, cap=10)
    assert (kept.too_large, kept.data) == (False, b"x" * 10)
    assert over.too_large


@pytest.mark.parametrize("where", ["result", "id-last"])
def test_an_answer_over_the_cap_fails_its_own_request_only(where: str) -> None:
    with (
        Workspace(limits=Limits(max_line_bytes=100_000)) as run,
        run.server(command("long-line", "3000000", where)) as server,
    ):
        assert server.initialize().ok
        first, second = server.send("a"), server.send("b")
        for id in (second, first):
            reply = server.wait(id, timeout_s=10)
            assert reply.failure is not None
            assert reply.failure.kind == "too-large"
        server.drain(5, lambda: server.transcript.counts["too-large"] == 2)
        recorded = [m for m in server.transcript if m.problem == "too-large"]
        assert [m.cut > 2_900_000 for m in recorded] == [True, True]
        assert dict(server.transcript.counts) == {"too-large": 2}
        assert server.alive


def test_a_notification_over_the_cap_fails_no_request() -> None:
    limits = Limits(max_line_bytes=100_000)
    with Workspace(limits=limits) as run, run.server(command("long-line", "300000", "notification")) as server:
        assert server.initialize().ok
        assert server.request("a", timeout_s=10).ok
        assert dict(server.transcript.counts) == {"too-large": 1}


def test_a_line_of_100_megabytes_takes_seconds_and_a_few_times_its_size() -> None:
    script = f"""
import resource, time
from lro_conformance.wire.workspace import Workspace
with Workspace() as run, run.server({command("long-line", "100000000")!r}) as server:
    assert server.initialize().ok
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reply = server.request("big", timeout_s=60)
    assert len(reply.result["text"]) == 100_000_000, reply.failure
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(reply.elapsed_s, grown / (1024 if {sys.platform != "darwin"} else 1 << 20))
"""
    path = [str(Path(p)) for p in sys.path if p]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n" + script],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds, megabytes = map(float, done.stdout.split())
    assert seconds < 20
    assert megabytes < 500


def test_the_transcript_stays_within_its_budget_and_cuts_the_oldest_bodies_first() -> None:
    transcript = Transcript(max_bytes=1_000_000, max_chatter=100)
    for n in range(10):
        transcript.add("in", b'{"n":%d,"x":"' % n + b"x" * 300_000 + b'"}')
    messages = list(transcript)
    assert transcript.kept_bytes <= 1_000_000
    assert len(messages) == 10
    assert [m.cut > 0 for m in messages] == [True] * 7 + [False] * 3
    assert messages[0].line.startswith(b'{"n":0')
    assert messages[0].parsed is None
    assert messages[-1].parsed["n"] == 9


def test_chatter_makes_room_before_requests_and_answers_do() -> None:
    transcript = Transcript(max_bytes=1_000_000, max_chatter=100)
    transcript.add("out", b"q" * 200_000)
    for _ in range(500):
        transcript.add("in", b"n" * 20_000, chatter=True)
    kept = list(transcript)
    assert transcript.kept_bytes <= 1_000_000
    assert kept[0].line == b"q" * 200_000
    assert kept[0].cut == 0
    assert len(kept) == 101
    assert transcript.dropped == 400


def test_stderr_does_not_drown_notifications() -> None:
    transcript = Transcript(max_chatter=100)
    transcript.add("in", b'{"method":"notifications/message"}', chatter=True)
    for _ in range(500):
        transcript.add("err", b"debug: nothing new", chatter=True)
    assert [m.direction for m in transcript].count("in") == 1
    assert len(transcript) == 101


def test_a_transcript_lets_go_of_answers_and_keeps_what_was_sent() -> None:
    transcript = Transcript()
    for direction, chatter in (("out", False), ("in", False), ("err", True), ("in", True)):
        transcript.add(direction, b"x" * 100_000, chatter=chatter)
    transcript.cut_answers()
    assert [len(m.line) for m in transcript] == [100_000, 512, 100_000, 100_000]
    transcript.keep_sent()
    assert [(m.direction, m.cut) for m in transcript] == [("out", 0)]
    assert transcript.kept_bytes < 101_000
