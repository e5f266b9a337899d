"""Servers that hang, die, flood, lie or never end a line: the client gets a clear error, and memory stays bounded."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lro_proxy.relay import pending
from lro_proxy.relay.pending import PendingRequests, Request
from tests.support.paths import ROOT
from tests.support.proxying import SCRIPTED, Client, gone, proxy, records


def error(client: Client, id: object) -> tuple[int, str]:
    told = client.answer(id)["error"]
    assert told["message"].startswith("lro proxy: ")
    return told["code"], told["message"]


def peak_mb(client: Client) -> float:
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def works(client: Client) -> None:
    assert client.result("say", result='{"content":[]}') == {"content": []}


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("die", "exited with code 7: the disk is on fire"),
        ("killed", "was ended by SIGKILL"),
        ("half", "exited with code 0"),
    ],
)
def test_a_server_that_dies_is_an_error_for_every_call(tmp_path: Path, tool: str, said: str) -> None:
    with proxy(tmp_path) as client:
        waiting, dying = client.call("hang"), client.call(tool)
        for id in (waiting, dying, client.call("say"), client.post("tools/list")):
            code, message = error(client, id)
            assert (code, said in message) == (-31001, True), message
        assert client.leave() == 0


def test_a_hanging_call_fails_in_time_and_the_server_is_told(tmp_path: Path) -> None:
    with proxy(tmp_path, "--request-timeout-s", "1", stderr=subprocess.PIPE) as client:
        id = client.call("hang")
        assert error(client, id)[0] == -31002
        works(client)
        client.leave()
        assert client.process.stderr
        assert f"cancelled {id}" in client.process.stderr.read().decode()


def test_a_server_that_no_longer_reads_fails_every_call_in_time(tmp_path: Path) -> None:
    with proxy(tmp_path, "--request-timeout-s", "1") as client:
        ids = [client.call("sleep"), client.call("say", result="{}"), client.call("say", result="x" * (3 << 20))]
        assert {error(client, id)[0] for id in ids[:2]} == {-31002}
        assert error(client, ids[2])[0] == -31002
        client.process.send_signal(signal.SIGTERM)  # which finds the proxy in the middle of writing
        assert client.process.wait(10) == 143


def test_progress_keeps_a_call_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(pending.time, "monotonic", lambda: now)
    requests = PendingRequests(10)
    requests.add(Request(1, "tools/call", progress_token="a"))
    requests.add(Request(2, "tools/call", progress_token="b"))
    now = 9
    requests.extend("a")
    now = 12
    assert [request.id for request in requests.pop_overdue()] == [2]
    now = 19
    assert [request.id for request in requests.pop_overdue()] == [1]


def test_a_cancelled_call_keeps_nobody_waiting() -> None:
    requests = PendingRequests(10)
    requests.add(Request(1, "tools/call"))
    assert requests.has_uncancelled
    requests.cancel(1)
    assert not requests.has_uncancelled


def test_a_client_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        child = int(client.result("child")["content"][0]["text"])
        client.call("sleep")
        begun = time.monotonic()
        assert client.process.stdout
        client.process.stdout.close()
        assert client.leave() == 0
        assert time.monotonic() - begun < 9  # of which five seconds are the server's to end by itself
        assert gone(child)


@pytest.mark.long
def test_a_call_that_hangs_when_the_client_leaves_is_given_up(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        id = client.call("sleep")
        begun = time.monotonic()
        assert client.process.stdin
        client.process.stdin.close()
        assert "has sent nothing for 10 s after the client had left" in error(client, id)[1]
        assert client.process.wait(5) == 0
        assert time.monotonic() - begun < 15


def test_a_line_of_200_mb_is_an_error_and_never_in_memory(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        works(client)
        before = peak_mb(client)
        code, message = error(client, client.call("huge", mb=200))
        assert code == -31003
        assert "--max-line-mb" in message
        assert peak_mb(client) - before < 140  # the cap is 128, and nothing is kept beside it
        works(client)
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_is_too_long_fails_only_the_call_it_answers(tmp_path: Path) -> None:
    with proxy(tmp_path, "--max-line-mb", "1") as client:
        hanging = client.call("hang")
        assert error(client, client.call("huge", mb=2, id="end"))[0] == -31003
        works(client)
        assert error(client, client.call("huge", mb=2, id="nowhere"))[0] == -31003
        assert client.call("say", result='{"late":1}') > hanging
        assert json.loads(client.line())["result"] == {
            "late": 1
        }  # what hung was failed as well: it may have been its own


def test_a_request_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with proxy(tmp_path, "--max-line-mb", "1") as client:
        code, message = error(client, client.call("say", result="x" * (2 << 20)))
        assert (code, "send less" in message) == (-31003, True)
        works(client)


def test_a_flood_waits_for_a_slow_reader(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        works(client)
        before = peak_mb(client)
        id = client.call("flood", lines=30_000)
        time.sleep(0.5)
        assert peak_mb(client) - before < 20
        count = 0
        while json.loads(line := client.line()).get("id") != id:
            count += 1
            assert line.startswith(b'{"jsonrpc":"2.0","method":"notifications/message"')
        assert count == 30_000


@pytest.mark.parametrize(
    "text",
    [
        "npm WARN deprecated\n",
        "\n\n",
        "[1, 2\n",
        '"a text"\n',
        "{}\n",
        '{"jsonrpc":"2.0","id":99,"result":{"content":[]}}\n',
        '{"jsonrpc":"2.0","id":[1],"result":{}}\n',
        "\x00\x01\ud800\n",
        "[" * 5000 + "]" * 5000 + "\n",
    ],
)
def test_what_is_no_answer_reaches_nobody(shared: Client, text: str) -> None:
    id = shared.call("raw", text=text + '{"jsonrpc":"2.0","id":$ID,"result":{"right":true}}\n')
    lines = [json.loads(shared.line())]
    if "id" not in lines[0]:
        lines.append(json.loads(shared.line()))  # an object that is no answer passes: there is nobody it could confuse
    assert (lines[-1]["id"], lines[-1]["result"]) == (id, {"right": True})


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with proxy(tmp_path_factory.mktemp("lies")) as client:
        yield client


def test_an_answer_that_is_no_json_is_an_error(shared: Client) -> None:
    for text in ('{"jsonrpc":"2.0","id":$ID,"result":{"content":[}}\n', '{"result":tru,"jsonrpc":"2.0","id":$ID}\n'):
        assert error(shared, shared.call("raw", text=text))[0] == -31004


def test_only_the_first_answer_counts(shared: Client) -> None:
    answer = '{"jsonrpc":"2.0","id":$ID,"result":{"n":%d}}\n'
    shared.call("raw", text=answer % 1 + answer % 2)
    assert json.loads(shared.line())["result"] == {"n": 1}
    works(shared)


@pytest.mark.parametrize(
    "result",
    [
        '"a text"', "[]", '{"content":"text"}', '{"content":[1,null,{"type":"text"},{"type":"text","text":5}]}',
        '{"content":{"type":"text"}}', '{"structuredContent":[1]}', '{"structuredContent":"text"}', '{"isError":"yes"}',
        '{"content":[{"type":"text","text":"a"}],"isError":1}',
    ],
)  # fmt: skip
def test_results_of_no_known_shape_pass(shared: Client, result: str) -> None:
    padded = result[:-1] + " " * 3000 + result[-1]
    id = shared.call("say", result=padded)
    assert shared.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{padded}}}'.encode()


@pytest.mark.parametrize("after", [1, 7, 20])
def test_killed_among_fifty_calls_it_leaves_only_whole_files(tmp_path: Path, after: int) -> None:
    with proxy(tmp_path) as client:
        texts = {n: "".join(f"call {n} line {i}\n" for i in range(400)) for n in range(50)}
        for text in texts.values():
            client.call("say", result=json.dumps({"content": [{"type": "text", "text": text}]}))
        for _ in range(after):
            client.line()
        client.process.kill()
        client.process.wait(10)
    files = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert len(files) >= after
    for path in files:
        header, lines = records(path)
        assert header["count"] == len(lines) == 400
        assert "".join(line["text"] + "\n" for line in lines) in texts.values()
    for path in tmp_path.iterdir():
        assert path in files or path.name.endswith(".jsonl.tmp")  # which the next cleanup knows


def test_a_server_that_does_not_listen_is_made_to_end(tmp_path: Path) -> None:
    with proxy(tmp_path, server=(*SCRIPTED, "--deaf")) as client:
        child = int(client.result("child")["content"][0]["text"])
        server = int(Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[1])
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(15) == 143
        assert gone(server)
        assert gone(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_file_that_is_half_written(tmp_path: Path, number: signal.Signals) -> None:
    text = "".join(f"GET /items/{n}\n" for n in range(1_000_000))
    answer, out = tmp_path / "answer.json", tmp_path / "out"
    answer.write_text(json.dumps({"content": [{"type": "text", "text": text}]}), encoding="utf-8")
    server = [sys.executable, "-I", str(ROOT / "benchmarks/result_server.py")]
    with proxy(out, server=server) as client:
        client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={}))
        client.call("read_text_file", path=str(answer))
        until = time.monotonic() + 20
        while not (out.is_dir() and any(out.iterdir())) and time.monotonic() < until:
            time.sleep(0.001)
        assert [path.suffix for path in out.iterdir()] == [".tmp"]
        client.process.send_signal(number)
        client.process.wait(20)
        assert list(out.iterdir()) == []
