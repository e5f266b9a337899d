"""The proxy between a client and a server: what passes untouched, what is replaced, and in which order."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lro_spec.messages import OffloadResponse
from lro_spec.tokens import script_aware_estimate
from tests.support.proxying import SETTING, Client, gone, proxy, records

SMALL = (
    '{"content": [ {"type":"text","text":"caf\\u00e9 \\ud83d\\ude00 \\u2028"} ],"x":1.50,"big":12345678901234567890123}'
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    folder = tmp_path_factory.mktemp("offloaded")
    with proxy(folder) as made:
        yield made, folder


@pytest.fixture
def folder(shared: tuple[Client, Path]) -> Path:
    """Where the client's files go; empty at the beginning of a test."""
    for file in shared[1].iterdir():
        file.unlink()
    return shared[1]


@pytest.fixture
def client(shared: tuple[Client, Path], folder: Path) -> Client:
    return shared[0]


def text_result(text: str, **more: object) -> str:
    return json.dumps({"content": [{"type": "text", "text": text}], **more})


def test_small_results_leave_as_the_bytes_that_came(client: Client) -> None:
    id = client.call("say", result=SMALL)
    assert client.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{SMALL}}}'.encode()


@pytest.mark.parametrize("method", ["ping", "resources/read", "prompts/get", "something/unknown"])
def test_other_answers_leave_as_the_bytes_that_came(client: Client, method: str) -> None:
    id = client.post(method, big="x" * 50_000)
    assert client.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{{"method":"{method}",  "kept":1.10}}}}'.encode()


def test_ids_keep_their_type(client: Client) -> None:
    for id in ("1", 1, -5, "a \\ b", 2**53 + 1):
        client.send(
            {
                "jsonrpc": "2.0",
                "id": id,
                "method": "tools/call",
                "params": {"name": "say", "arguments": {"result": text_result("z" * 5000)}},
            }
        )
        message = json.loads(client.line())
        assert (type(message["id"]), message["id"]) == (type(id), id)
        assert json.loads(message["result"]["content"][0]["text"])["offloaded"] is True


@pytest.mark.parametrize("id", [[1], {}])
def test_an_id_that_is_none_ends_nothing(client: Client, id: object) -> None:
    client.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
    assert json.loads(client.line())["id"] == id  # the server has its own answer to that
    assert client.result("say", result=SMALL)


@pytest.mark.parametrize("id", [10**30, 1.5, -(2**70)])
def test_an_answer_whose_id_could_not_be_written_again_passes_as_it_is(client: Client, id: float) -> None:
    params = {"name": "say", "arguments": {"result": text_result("z" * 5000)}}
    client.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    message = json.loads(client.line())
    assert (type(message["id"]), message["id"]) == (type(id), id)
    assert message["result"]["content"][0]["text"] == "z" * 5000


def test_large_text_is_in_a_file_and_nowhere_else(client: Client, folder: Path) -> None:
    text = "".join(f'line {n} with \\ and "\r\n' for n in range(400))
    result = client.result(
        "say", result=text_result(text, _meta={"exact": 1.10, "n": 12345678901234567890123}, isError=False)
    )
    descriptor = OffloadResponse.from_dict(json.loads(result["content"][0]["text"]))
    header, lines = records(descriptor.file_path)
    assert "".join(line["text"] + "\n" for line in lines) == text
    assert [line["n"] for line in lines] == list(range(1, 401))
    assert header["count"] == descriptor.summary.count == 400
    assert len(json.dumps(result)) < 8000
    assert result["_meta"] == {"exact": 1.10, "n": 12345678901234567890123}
    assert os.stat(descriptor.file_path).st_mode & 0o777 == 0o600
    assert list(folder.iterdir()) == [Path(descriptor.file_path)]


def test_exact_numbers_beside_the_payload_keep_their_digits(client: Client) -> None:
    client.call("say", result=text_result("z" * 5000)[:-1] + ', "_meta": {"a": 1.10, "b": 12345678901234567890123}}')
    assert b'"_meta":{"a":1.10,"b":12345678901234567890123}' in client.line()


ROWS = ",".join(f'{{"id":{n},"name":"row"}}' for n in range(300))


@pytest.mark.parametrize("odd", [r'"\ud800"', "NaN", '{"a":1,"a":2}'])
def test_what_not_every_reader_takes_is_offloaded_as_it_was_written(client: Client, folder: Path, odd: str) -> None:
    for result in (
        f'{{"structuredContent" : {{"rows":[{ROWS}],"odd":{odd}}},"content":[]}}',
        f'{{"content":[{{"type":"text","text":{json.dumps(f"[{ROWS},{odd}]")}}}],"_meta":{{"odd":{odd}}}}}',
    ):
        client.call("raw", text=f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}\n')
        line = client.line()
        assert len(line) < 10_000
        answer = json.loads(line, parse_constant=pytest.fail)["result"]
        (file,) = folder.iterdir()
        assert json.loads(answer["content"][0]["text"])["file_path"] == str(file)
        header, lines = records(file)
        kept = "".join(line.get("text", "") for line in lines) or file.read_text()
        assert (odd in kept, kept.count('"name":"row"')) == (True, 300)
        if header["extra"].get("from") == "result":
            assert kept == result
        file.unlink()


def test_the_same_payload_in_both_places_is_one(client: Client) -> None:
    value = {"items": [{"id": n, "name": f"item {n}"} for n in range(300)]}
    result = client.result("typed", result=text_result(json.dumps(value, indent=2), structuredContent=value))
    descriptor = json.loads(result["content"][0]["text"])
    assert result["structuredContent"] == descriptor
    assert "item 77" not in json.dumps(result)
    header, lines = records(descriptor["file_path"])
    assert lines == value["items"]
    assert header["extra"]["at"] == "/items"


def test_images_and_links_stay_where_text_is_offloaded(client: Client) -> None:
    blocks = [
        {"type": "image", "data": "QUJD", "mimeType": "image/png", "annotations": {"audience": ["user"]}},
        {"type": "text", "text": "t" * 4000},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
    ]
    result = client.result("say", result=json.dumps({"content": blocks}))
    assert json.loads(result["content"][0]["text"])["offloaded"] is True
    assert result["content"][1:] == [blocks[0], blocks[2], blocks[3]]


def test_large_errors_stay_inline(client: Client, folder: Path) -> None:
    large = text_result("E" * 9000, isError=True)
    id = client.call("say", result=large)
    assert client.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{large}}}'.encode()
    client.call("raw", text='{"jsonrpc":"2.0","id":$ID,"error":{"code":5,"message":"' + "m" * 9000 + '"}}\n')
    assert b'"code":5' in client.line()
    assert list(folder.iterdir()) == []


def test_results_of_another_offloading_server_stay_as_they_are(client: Client, folder: Path) -> None:
    descriptor = {"offloaded": True, "file_path": "/x", "summary": {}, "guidance": "g" * 3000}
    result = client.result("say", result=text_result(json.dumps(descriptor)))
    assert json.loads(result["content"][0]["text"]) == descriptor
    assert list(folder.iterdir()) == []


def test_output_schemas_are_widened_and_everything_else_listed_as_it_is(client: Client) -> None:
    client.post("tools/list")
    line = client.line()
    listed = json.loads(line)["result"]
    assert listed["nextCursor"] == "page 2"
    assert b'"x-unknown":[1.5,100.0]' in line  # as the server's own json wrote it
    schema = listed["tools"][1]["outputSchema"]
    assert schema["type"] == "object"
    assert schema["anyOf"][0]["required"] == ["items"]


def test_initialize_advertises_the_capability_beside_the_servers_own(client: Client) -> None:
    result = client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities={}))["result"]
    assert set(result["capabilities"]["experimental"]) == {"mine", "lro"}
    assert result["serverInfo"]["name"] == "scripted"


def test_requests_of_the_server_reach_the_client_and_answers_go_back(client: Client) -> None:
    id = client.call("ask")
    asked = client.line()
    assert (
        asked
        == b'{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{"messages":[], "maxTokens":5}}'
    )
    client.send(b'{"jsonrpc":"2.0", "id":"q1",  "result":{"model":"m"}}\n')
    text = client.answer(id)["result"]["content"][0]["text"]
    assert text == '{"jsonrpc":"2.0", "id":"q1",  "result":{"model":"m"}}\n'


def test_many_calls_at_once_each_get_their_own(client: Client) -> None:
    ids = {client.call("say", result=text_result(f"call {n}\n" * (300 if n % 2 else 3))): n for n in range(60)}
    for _ in range(60):
        message = json.loads(client.line())
        n = ids.pop(message["id"])
        text = message["result"]["content"][0]["text"]
        if n % 2:
            assert {line["text"] for line in records(json.loads(text)["file_path"])[1]} == {f"call {n}"}
        else:
            assert text == f"call {n}\n" * 3
    assert not ids


def test_a_batch_is_answered_as_a_batch(client: Client) -> None:
    client.send(b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}\n')
    large = text_result("b\n" * 2000)
    client.call(
        "raw", text=f'[{{"jsonrpc":"2.0","id":7,"result":{large}}},{{"jsonrpc":"2.0","id":$ID,"result":{{"a":1.0}}}}]\n'
    )
    seven, own = json.loads(client.line())
    assert json.loads(seven["result"]["content"][0]["text"])["offloaded"] is True
    assert own["result"] == {"a": 1.0}


def test_a_cancelled_call_leaves_no_file(client: Client, folder: Path) -> None:
    client.send(b'{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"hang"}}\n')
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c"}})
    client.call("raw", text=f'{{"jsonrpc":"2.0","id":"c","result":{text_result("late " * 2000)}}}\n')
    assert json.loads(client.line())["error"]["code"] == -31005
    assert list(folder.iterdir()) == []


def test_thresholds_by_tool(tmp_path: Path) -> None:
    large = text_result("word " * 1000)
    with proxy(tmp_path, "--tool-threshold", "s*=off", "--tool-threshold", "t*=5000") as client:
        for tool in ("say", "typed"):
            id = client.call(tool, result=large)
            assert client.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{large}}}'.encode()
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_truncates_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    value = {"items": [{"id": n, "name": f"item {n}"} for n in range(300)]}
    with proxy(tmp_path / "file") as client:
        result = client.result("typed", result=text_result(json.dumps(value), structuredContent=value))
        assert "Offloading failed" in result["structuredContent"]["warning"]
        kept = result["structuredContent"]["results"]
        assert value["items"][: len(kept)] == kept
        assert 0 < len(kept) < 300
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        text = client.result("say", result=text_result("one line\n" * 1000))["content"][0]["text"]
        assert text.startswith("one line\none line\n")
        assert "truncated" in text
    assert (tmp_path / "file").read_text() == "no folder"


@pytest.mark.parametrize(
    ("payload", "beginning"),
    [
        (text_result("x" * 64_000), "x" * 800),
        (text_result("\u8a66" * 64_000), "\u8a66" * 240),
        (text_result(json.dumps({"a": "y" * 30_000})), '{"n":1,"part":1,"text":"' + "y" * 776),
        (text_result("half " + "\ud800" * 9000), "half " + "\ud800" * 795),
    ],
)
def test_of_one_record_that_cannot_be_written_the_beginning_is_returned(
    tmp_path: Path, payload: str, beginning: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    with proxy(tmp_path / "file") as client:
        text: str = client.result("say", result=payload)["content"][0]["text"]
    if text.startswith('{"offloaded"'):
        value = json.loads(text)
        assert (value["results"], value["count"], value["beginning"]) == ([], 0, beginning)
        text = value["beginning"] + value["warning"]
    assert text.startswith(beginning)
    assert script_aware_estimate(text.partition("Offloading failed")[0].rstrip()) == 200
    assert re.search(r"0 of \d+ \w+.* Only the first [0-9]+ characters of the first \w+ are returned\.$", text)


@pytest.mark.parametrize("hint", [5, None, [], {}, {"operation": "../../x", "records": [{"a": 1}] * 5000}])
def test_a_hint_that_makes_no_sense_is_none(client: Client, folder: Path, hint: object) -> None:
    meta = {"lro-spec/results": hint, "kept": 1.50}
    result = client.result("say", result=text_result("z" * 90_000, _meta=meta))
    assert result["_meta"] == {"kept": 1.5}
    assert len(json.loads(result["content"][0]["text"])["jq_recipes"]) >= 2
    small = client.result("say", result=text_result("small", _meta=meta))
    assert (small["content"][0]["text"], small["_meta"]) == ("small", {"kept": 1.5})


def test_the_server_is_told_not_to_offload_and_hears_no_settings_of_the_proxy(client: Client) -> None:
    heard = json.loads(_environment(client))
    assert {k: v for k, v in heard.items() if k.startswith(SETTING)} == {f"{SETTING}ENABLED": "false"}


def _environment(client: Client) -> str:
    text = client.result("environment")["content"][0]["text"]
    value = json.loads(text)
    if value.get("offloaded") is not True:
        return text
    _, lines = records(value["file_path"])
    return json.dumps({line["member"]: line.get("value") for line in lines})


def test_nothing_is_offloaded_nor_announced_where_it_is_off(tmp_path: Path) -> None:
    large = text_result("word " * 1000)
    with proxy(tmp_path, **{f"{SETTING}ENABLED": "false"}) as client:
        opened = client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={}))
        assert "lro" not in opened["result"]["capabilities"].get("experimental", {})
        id = client.call("say", result=large)
        assert client.line() == f'{{"jsonrpc": "2.0",  "id":{id},"result":{large}}}'.encode()


@pytest.mark.parametrize(
    "arguments", [["--"], [], ["--tool-threshold", "x", "--", "cat"], ["--max-line-mb", "0", "--", "cat"]]
)
def test_wrong_arguments_are_one_line_and_exit_2(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lro_proxy", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


def test_a_server_that_cannot_be_started_is_one_line_and_exit_3() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lro_proxy", "--", "/no/such/server"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "/no/such/server" in done.stderr


def test_piped_requests_get_their_answers_after_the_end_of_input(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        ids = [client.call("say", result=text_result("x\n" * 3000)) for _ in range(5)]
        assert client.process.stdin
        client.process.stdin.close()
        answers = [json.loads(client.line()) for _ in ids]
        assert [answer["id"] for answer in answers] == ids
        assert all("result" in answer for answer in answers)
        assert client.line() == b""
        assert client.process.wait(10) == 0


def test_a_client_that_reads_slowly_loses_no_answer_of_a_server_that_has_ended(tmp_path: Path) -> None:
    text = json.dumps({"content": [{"type": "text", "text": "x" * 400_000}]})
    with proxy(tmp_path, "--threshold-tokens", "1000000") as client:
        ids = [client.call("say", result=text) for _ in range(6)]
        assert client.process.stdin
        client.process.stdin.close()
        time.sleep(4)  # the last answers wait in the pipes now, and the server has gone
        answers = [json.loads(client.line()) for _ in ids]
        assert [answer["id"] for answer in answers] == ids
        assert all("result" in answer for answer in answers)
        assert client.line() == b""
        assert client.process.wait(10) == 0


@pytest.mark.parametrize("how", ["leave", "SIGTERM", "SIGINT", "SIGKILL"])
def test_no_process_is_left_behind(tmp_path: Path, how: str) -> None:
    with proxy(tmp_path) as client:
        child = int(client.result("child")["content"][0]["text"])
        server = int(Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[1])
        if how == "leave":
            assert client.leave() == 0
        else:
            client.process.send_signal(getattr(signal, how))
            client.process.wait(10)
        assert gone(server)
        if how == "SIGKILL":  # nobody can answer that one: what the server started is the server's to end
            os.kill(child, signal.SIGKILL)
        assert gone(child)
