"""`lro proxy --links`: offloaded files as resources, for clients that do not share the proxy's disk."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hubs import entry, hub
from tests.support.mcp_clients import python_client
from tests.support.proxying import SCRIPTED, Client, proxy

LARGE = json.dumps({"content": [{"type": "text", "text": "".join(f"line {n} é\n" for n in range(2000))}]})
OPENING: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


@pytest.fixture(params=["one server", "several"])
def client(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Client]:
    if request.param == "several":
        with hub(tmp_path, "--links", left=entry(), right=entry("--ids-as-texts")) as client:
            yield client
    else:
        with proxy(tmp_path, "--links") as client:
            yield client


def say(client: Client) -> dict[str, Any]:
    tools = client.answer(client.post("tools/list"))["result"]["tools"]
    assert "lro_extract" not in [tool["name"] for tool in tools]
    return client.result(tools[0]["name"], result=LARGE)


def read(client: Client, uri: str) -> dict[str, Any]:
    return client.answer(client.post("resources/read", uri=uri))


def test_an_answer_links_to_its_file_which_can_be_read_in_ranges(client: Client) -> None:
    opened = client.answer(client.post("initialize", **OPENING))["result"]
    assert opened["capabilities"]["resources"] == {}
    descriptor, link = say(client)["content"]
    file = Path(json.loads(descriptor["text"])["file_path"])
    data = file.read_bytes()
    assert link == {
        "type": "resource_link",
        "uri": f"lro:///{file.name}",
        "name": file.name,
        "mimeType": "application/jsonl",
        "size": len(data),
        "_meta": {"lro-spec/sha256": hashlib.sha256(data).hexdigest()},
    }
    lines = data.decode().splitlines(keepends=True)
    for query, expected in (
        ("", lines),
        ("?lines=2-3", lines[1:3]),
        ("?lines=2000-", lines[1999:]),
        ("?lines=9-1", []),
    ):
        (content,) = read(client, link["uri"] + query)["result"]["contents"]
        assert (content["text"], content["mimeType"]) == ("".join(expected), "application/jsonl")


def test_only_offloaded_files_can_be_read(client: Client, tmp_path: Path) -> None:
    client.answer(client.post("initialize", **OPENING))
    uri = say(client)["content"][1]["uri"]
    secret = tmp_path / "secret"
    secret.write_text("no")
    for other in ("lro:///secret", "lro:///../secret", f"lro:///{secret}", "lro:///%2e%2e/secret", "lro:///"):
        assert read(client, other)["error"]["code"] == -32602
    assert "lines=FIRST-LAST" in read(client, f"{uri}?bytes=1-2")["error"]["message"]


def test_where_the_server_has_no_resources_the_proxy_lists_its_own(client: Client) -> None:
    client.answer(client.post("initialize", **OPENING))
    assert client.answer(client.post("resources/list"))["result"] == {"resources": []}
    (template,) = client.answer(client.post("resources/templates/list"))["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "lro:///{name}{?lines}"


def test_without_the_option_there_is_no_link(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        assert [block["type"] for block in client.result("say", result=LARGE)["content"]] == ["text"]
        assert read(client, "lro:///x")["result"]["method"] == "resources/read"  # the server's answer


def test_links_and_tools_go_together(tmp_path: Path) -> None:
    with proxy(tmp_path, "--links", "--tools", "extract") as client:
        client.answer(client.post("initialize", **OPENING))
        descriptor, link = client.result("say", result=LARGE)["content"]
        path = json.loads(descriptor["text"])["file_path"]
        found = client.result("lro_extract", file_path=path, query="select(.n == 7) | .text")
        assert json.loads(found["content"][0]["text"]) == "line 6 é"
        assert "line 6" in read(client, f"{link['uri']}?lines=8-8")["result"]["contents"][0]["text"]


def test_the_official_client_accepts_links_and_small_descriptors(tmp_path: Path) -> None:
    for form in ("compact", "pointer"):
        command = [sys.executable, "-m", "lro_proxy", "--links", "--descriptor", form, "--", *SCRIPTED]
        (result,) = python_client(command, tmp_path, [{"name": "say", "arguments": {"result": LARGE}}])
        assert result["content"][1]["type"] == "resource_link"
        assert json.loads(result["content"][0]["text"])["offloaded"] is True


@pytest.mark.parametrize(("form", "most"), [("compact", 260), ("pointer", 70)])
def test_a_small_descriptor_names_the_tools_in_a_sentence(tmp_path: Path, form: str, most: int) -> None:
    with proxy(tmp_path, "--descriptor", form, "--tools", "extract") as client:
        client.answer(client.post("initialize", **OPENING))
        text = client.result("say", result=LARGE)["content"][0]["text"]
        path = json.loads(text)["file_path"]
        assert len(text.replace(path, "")) / 4 <= most
        assert "lro_extract can read it: this file_path and a jq filter as `query`." in text
        found = client.result("lro_extract", file_path=path, query="select(.n == 7) | .text")
        assert json.loads(found["content"][0]["text"]) == "line 6 é"
