"""Tools that read offloaded files, over the wire: in the reference server, in the proxy, all at once, and killed."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.support.extraction import BUSY, ISSUES, greet, names, offloaded, said, server
from tests.support.proxying import SCRIPTED, gone, proxy, records


def test_what_came_with_the_records_is_not_passed_over(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tools", "extract,scratchpad") as client:
        greet(client)
        guidance = offloaded(client, {"items": ISSUES, "next_page": "p2"})["guidance"]
        assert "Line 1 of the file is a header, and its `extra` holds what came with the records;" in guidance
        assert "`extra`" not in offloaded(client)["guidance"]


def test_the_reference_server_reads_what_it_has_offloaded(tmp_path: Path) -> None:
    """Also while a query runs, and never to offload the answer once more."""
    with server(tmp_path) as client:
        assert "lro_extract" in names(client)
        descriptor = json.loads(said(client.result("recall_memories", limit=100, detail="full")))
        assert "lro_extract" in descriptor["guidance"]
        assert "shell" not in descriptor["guidance"].replace("No shell is needed", "")
        assert len(descriptor["jq_recipes"]) == 10
        path = descriptor["file_path"]
        assert len(said(client.result("lro_extract", file_path=path, recipe=1)).splitlines()) == 100
        counts = json.loads(said(client.result("lro_extract", file_path=path, recipe=8)))
        assert sum(group["count"] for group in counts) == 100
        assert said(client.result("lro_extract", file_path=path, query="length", slurp=True)) == "100"
        assert client.result("lro_extract", file_path=path, query="env")["isError"] is True

        answer = said(client.result("lro_extract", file_path=path, recipe=4, params={"n": 20}))
        assert len(json.loads(answer)) == 20
        assert len(answer) > 4 * 500
        assert [file.name for file in tmp_path.iterdir()] == [Path(path).name]

        client.call("lro_extract", file_path=path, query=BUSY)
        begun = time.monotonic()
        assert len(json.loads(said(client.result("recall_memories", limit=1)))["results"]) == 1
        assert time.monotonic() - begun < 9


def test_the_official_client_reads_a_file(tmp_path: Path) -> None:
    async def talk() -> tuple[list[str], str]:
        args = ["-m", "lro_proxy.serve", "--data", ":memory:", "--tools", "extract", "--output-dir", str(tmp_path)]
        from tests.support.proxying import ROOTS

        parameters = StdioServerParameters(command=sys.executable, args=args, env={"PYTHONPATH": ROOTS})
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            large: Any = await session.call_tool("recall_memories", {"detail": "full"})
            path = json.loads(large.content[0].text)["file_path"]
            answer: Any = await session.call_tool("lro_extract", {"file_path": path, "recipe": 5, "params": {"n": 2}})
            return tools, answer.content[0].text

    tools, text = asyncio.run(talk())
    assert "lro_extract" in tools
    assert [set(json.loads(line)) for line in text.splitlines()] == [{"id", "title", "namespace"}] * 2


def test_the_proxy_lists_and_answers_its_own_tools(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tools", "extract") as client:
        greet(client)
        assert names(client) == ["say", "typed", "lro_extract"]
        descriptor = offloaded(client)
        assert "lro_extract" in descriptor["guidance"]
        path = descriptor["file_path"]
        first = client.result("lro_extract", file_path=path, recipe=1)
        assert "placeholder" in said(first)
        query = client.result("lro_extract", file_path=path, query="select(.number == 7) | .title")
        assert json.loads(said(query)) == ISSUES[7]["title"]
        all_of_them = said(client.result("lro_extract", file_path=path, query="."))
        assert [json.loads(line) for line in all_of_them.splitlines()] == ISSUES  # above the threshold, and inline
        assert client.result("lro_extract", file_path=path, recipe=99)["isError"] is True
        assert len(list(tmp_path.iterdir())) == 1
        assert client.leave() == 0


def test_every_recipe_of_a_descriptor_runs_by_its_number(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tools", "extract") as client:
        greet(client)
        descriptor = offloaded(client)
        for number in range(1, len(descriptor["jq_recipes"]) + 1):
            answer = client.result("lro_extract", file_path=descriptor["file_path"], recipe=number)
            assert not answer["isError"], said(answer)


def test_without_the_option_nothing_of_it_is_there(tmp_path: Path) -> None:
    with proxy(tmp_path) as client:
        greet(client)
        assert names(client) == ["say", "typed"]
        assert "lro_extract" not in offloaded(client)["guidance"]


def test_fifty_calls_at_once_each_get_their_own_file(tmp_path: Path) -> None:
    with proxy(tmp_path, "--tools", "extract") as client:
        greet(client)
        asked = {}
        for n in range(50):
            payload = [{"call": n, "row": row, "text": "x" * 60} for row in range(30)]
            result = {"content": [{"type": "text", "text": json.dumps(payload)}]}
            asked[client.call("say", result=json.dumps(result))] = n
        files = {n: json.loads(said(client.answer(id)["result"]))["file_path"] for id, n in asked.items()}
        assert len(set(files.values())) == 50
        some = {n: files[n] for n in range(0, 50, 3)}
        read = {
            client.call("lro_extract", file_path=path, query=".call", params={"n": 1}): n for n, path in some.items()
        }
        answers = {}
        while len(answers) < len(read):
            message = json.loads(client.line(120))
            answers[read[message["id"]]] = said(message["result"])
        assert answers == {n: str(n) for n in some}


LATER = [0.0, 0.4, 1.0]


@pytest.mark.parametrize(
    ("front", "after_s"),
    [
        ("server", 0.15),
        ("proxy", 0.15),
        *(pytest.param(front, s, marks=pytest.mark.long) for front in ("server", "proxy") for s in LATER),
    ],
)
def test_killed_in_the_middle_of_fifty_calls_nothing_is_left(tmp_path: Path, front: str, after_s: float) -> None:
    """No half file under a final name, no process, nothing but hidden temporary files that cleanup knows."""
    start = server(tmp_path) if front == "server" else proxy(tmp_path, "--tools", "extract")
    with start as client:
        if front == "server":
            path = json.loads(said(client.result("recall_memories", limit=60)))["file_path"]
        else:
            greet(client)
            path = offloaded(client)["file_path"]
        result = json.dumps({"content": [{"type": "text", "text": json.dumps(ISSUES * 20)}]})
        for n in range(50):
            if n % 5 == 0:
                client.call("lro_extract", file_path=path, query=BUSY)
            elif front == "server":
                client.call("recall_memories", detail="full")
            else:
                client.call("say", result=result)
        time.sleep(after_s)
        started_by_it = offspring(client.process.pid)
        client.process.send_signal(signal.SIGKILL)
        client.process.wait(20)
        assert all(gone(pid) for pid in started_by_it)
    for file in tmp_path.iterdir():
        if file.name.startswith("."):
            assert file.name.endswith(".jsonl.tmp")
            continue
        header, lines = records(file)
        assert header["count"] == len(lines)
        assert file.read_bytes().endswith(b"\n")


def offspring(pid: int) -> list[int]:
    """All processes that a process has started, and theirs."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *offspring(child)]
    return found


def test_a_tool_that_the_server_has_too_is_the_servers(tmp_path: Path) -> None:
    clash = tmp_path / "clash.py"
    tools = '[{"name": "lro_extract", "inputSchema": {"type": "object"}}]'
    clash.write_text(
        Path(SCRIPTED[-1])
        .read_text()
        .replace("TOOLS = [", f"TOOLS = {tools} + [", 1)
        .replace('case "say" | "typed"', 'case "say" | "typed" | "lro_extract"', 1)
    )
    with proxy(tmp_path / "out", "--tools", "extract", server=[*SCRIPTED[:-1], str(clash)]) as client:
        greet(client)
        assert names(client).count("lro_extract") == 1
        answer = client.result("lro_extract", result='{"content": [{"type": "text", "text": "mine"}]}')
        assert said(answer) == "mine"
