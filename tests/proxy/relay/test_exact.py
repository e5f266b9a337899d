"""What the proxy writes again keeps every digit, and what it does not touch stays as it is: batches, ids, blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lro_proxy.relay.pending import PendingRequests, Request
from tests.support.proxying import Client, proxy

LONG = "line\n" * 1000
HANGING = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}\n'
EXACT = '{"n":12345678901234567890123, "m":1.10}'


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with proxy(tmp_path_factory.mktemp("offloaded")) as made:
        yield made


def extra_of(result: dict[str, object]) -> dict[str, object]:
    """What the header of the file says beside its records, numbers by their digits."""
    content = result["content"]
    assert isinstance(content, list)
    file = Path(json.loads(content[0]["text"])["file_path"])
    with file.open(encoding="utf-8") as lines:
        return json.loads(next(lines), parse_float=str)["extra"]


def test_a_batch_keeps_every_digit_and_what_is_no_message(client: Client) -> None:
    client.send(HANGING)
    large = json.dumps({"content": [{"type": "text", "text": LONG}], "structuredContent": {"t": LONG, "x": 0}})
    large = large.replace('"x": 0', f'"x":{EXACT}')
    rest = f'{{"jsonrpc":"2.0","method":"x","params":{EXACT}}}'
    seven, own = (f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}' for id, result in ((7, large), ("$ID", "{}")))
    client.call("raw", text=f"[ {seven} , 5,{rest}, {own} ]\n")
    line = client.line()
    assert f",5,{rest},".encode() in line
    assert extra_of(json.loads(line)[0]["result"])["structured"] == {"x": {"n": 12345678901234567890123, "m": "1.10"}}


def test_progress_within_a_batch_keeps_a_call_alive(client: Client) -> None:
    text = '[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}]'
    id = client.call("raw", text=f'{text}\n{{"jsonrpc":"2.0","id":$ID,"result":{{}}}}\n')
    assert client.line() == text.encode()
    assert client.answer(id)["result"] == {}


@pytest.mark.parametrize("written", ['"7"', "7.0"])
def test_an_id_in_another_form_is_the_same_as_it_is_to_official_clients(client: Client, written: str) -> None:
    client.send(HANGING)
    answer = f'{{"jsonrpc":"2.0","id":{written},"result":{{"content":[ ]}}}}'
    client.call("raw", text=f'{answer}\n{{"jsonrpc":"2.0","id":$ID,"result":{{}}}}\n')
    assert client.line() == answer.encode()
    assert json.loads(client.line())["result"] == {}


def test_of_two_ids_the_one_in_the_same_form_is_meant() -> None:
    requests = PendingRequests(10)
    for id in (7, "7"):
        requests.add(Request(id, "ping"))
    found = [requests.pop(id) for id in ("7", 7, "7")]
    assert [request and request.id for request in found] == ["7", 7, None]


def test_digits_of_what_stands_beside_a_text_in_its_block_are_kept(client: Client) -> None:
    block = json.dumps({"type": "text", "text": LONG, "_meta": 0}).replace('"_meta": 0', f'"_meta":{EXACT}')
    extra = extra_of(client.result("say", result=f'{{"content":[{block}]}}'))
    assert extra["blocks"] == {"0": {"_meta": {"n": 12345678901234567890123, "m": "1.10"}}}


def test_a_text_about_descriptors_is_no_descriptor(client: Client) -> None:
    descriptor = json.dumps({"offloaded": True, "file_path": "/x", "summary": {}, "guidance": "g"})
    text = json.dumps({"content": [{"type": "text", "text": f"# Guide\n\n{descriptor}\n{LONG}"}]})
    assert json.loads(client.result("say", result=text)["content"][0]["text"])["summary"]["count"] == 1003
    alone = json.dumps({"content": [{"type": "text", "text": f"Offloaded:\n{descriptor}"}]})
    assert client.result("say", result=alone) == json.loads(alone)
