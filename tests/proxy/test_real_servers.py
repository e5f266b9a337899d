"""Real servers, called directly and through the proxy: the same bytes below the threshold, the same data above it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.support.proxying import Client, proxy, records, started
from tests.support.rebuilding import payload
from tests.support.registry import Installed

pytestmark = [pytest.mark.registry, pytest.mark.timeout(400)]

Call = tuple[str, dict[str, Any]]
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def introduced(client: Client) -> Client:
    client.answer(client.post("initialize", **CLIENT), timeout_s=60)
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return client


def bare(line: bytes) -> bytes:
    """A line without its id."""
    return re.sub(rb'"id": ?\d+', b'"id":0', line)


def answer(client: Client, tool: str, arguments: dict[str, Any]) -> bytes:
    """The raw answer to a call; notifications before it are dropped."""
    id = client.call(tool, **arguments)
    while True:
        line = client.line(60)
        message = json.loads(line)
        if message.get("id") == id and "method" not in message:
            return line


def same(direct: dict[str, Any], proxied: dict[str, Any]) -> None:
    """True if an offloaded result equals the direct one."""
    descriptor = json.loads(proxied["content"][0]["text"])
    texts, structured = payload(*records(descriptor["file_path"]))
    assert meaning(structured) == meaning(direct.get("structuredContent"))
    said = [block["text"] for block in direct["content"] if block["type"] == "text"]
    assert [meaning(text) for text in texts or []] == [meaning(text) for text in said]
    assert proxied["content"][1:] == [block for block in direct["content"] if block["type"] != "text"]
    assert proxied.get("structuredContent") == (descriptor if structured is not None else None)


def meaning(value: Any) -> Any:
    """A value with every text that is JSON, or lines of it, as what it says: spaces between values are not kept."""
    if isinstance(value, dict):
        return {key: meaning(member) for key, member in value.items()}
    if not isinstance(value, str):
        return list(value) if isinstance(value, list) else value
    for text in (value, f"[{','.join(value.splitlines())}]"):
        with suppress(ValueError):
            return json.loads(text)
    return value


def compare(
    folder: Path, server: Sequence[str], calls: Sequence[Call], prepare: Sequence[Call] = (), **env: str
) -> int:
    """Makes each call directly, through a proxy that lets it pass, and through one that offloads all it can; how many
    results were offloaded. *prepare* is called on the direct server alone."""
    with ExitStack() as stack:
        direct = introduced(stack.enter_context(started(server, **env)))
        for tool, arguments in prepare:
            assert not json.loads(answer(direct, tool, arguments))["result"].get("isError")
        passing = introduced(stack.enter_context(proxy(folder / "a", server=server, threshold=10**9, **env)))
        offloading = introduced(stack.enter_context(proxy(folder / "b", server=server, threshold=0, **env)))
        count = 0
        for tool, arguments in calls:
            line = answer(direct, tool, arguments)
            assert bare(answer(passing, tool, arguments)) == bare(line), tool
            result, offloaded = json.loads(line)["result"], json.loads(answer(offloading, tool, arguments))["result"]
            if result.get("isError") or not any(b["type"] == "text" and b["text"] for b in result["content"]):
                assert offloaded == result
            else:
                same(result, offloaded)
                count += 1
        assert not (folder / "a").exists()
    return count


def test_the_filesystem_server(tmp_path: Path, installed: Installed) -> None:
    data = (tmp_path / "data").resolve()
    data.mkdir()
    rows = [{"id": n, "name": f"row {n}", "size": n * 1.10, "tags": ["é", "\u2028"]} for n in range(500)]
    (data / "rows.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    (data / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (data / "log.txt").write_text("".join(f'{n} GET "/a\\b" – 200\r\n' for n in range(20_000)))
    (data / "table.csv").write_text("id,name\n" + "".join(f"{n},a{n}\n" for n in range(300)))
    (data / "empty").write_text("")
    names = ["rows.json", "rows.jsonl", "log.txt", "table.csv", "empty", "missing"]
    calls: list[Call] = [("read_text_file", {"path": str(data / name)}) for name in names]
    calls += [
        ("read_text_file", {"path": str(data / "log.txt"), "head": 5}),
        ("read_text_file", {"path": "/etc/passwd"}),
    ]
    calls += [("read_multiple_files", {"paths": [str(data / name) for name in names]})]
    calls += [(tool, {"path": str(data)}) for tool in ("list_directory", "directory_tree", "list_directory_with_sizes")]
    calls += [("search_files", {"path": str(data), "pattern": "*.json*"}), ("list_allowed_directories", {})]
    calls += [("get_file_info", {"path": str(data / "rows.json")}), ("no_such_tool", {})]
    assert compare(tmp_path, [*installed.npm("server-filesystem"), str(data)], calls) >= 11


def test_the_memory_server(tmp_path: Path, installed: Installed) -> None:
    entities = [
        {"name": f"entity {n}", "entityType": "thing", "observations": [f"seen {n} times", "字"]} for n in range(200)
    ]
    relations = [{"from": f"entity {n}", "to": f"entity {n + 1}", "relationType": "precedes"} for n in range(150)]
    prepare = [("create_entities", {"entities": entities}), ("create_relations", {"relations": relations})]
    calls = [
        ("read_graph", {}),
        ("search_nodes", {"query": "entity 1"}),
        ("open_nodes", {"names": ["entity 3", "none"]}),
    ]
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    assert compare(tmp_path, installed.npm("server-memory"), calls, prepare, **env) == 3


def test_the_everything_server(tmp_path: Path, installed: Installed) -> None:
    calls: list[Call] = [
        ("echo", {"message": "hello " * 500}),
        ("get-sum", {"a": 1, "b": 2}),
        ("get-tiny-image", {}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-structured-content", {"location": "New York"}),
        ("get-resource-links", {"count": 3}),
        ("no-such-tool", {}),
    ]
    assert compare(tmp_path, installed.npm("server-everything"), calls) >= 5


@pytest.mark.long
def test_the_git_server(tmp_path: Path, installed: Installed) -> None:
    if shutil.which("git") is None:
        pytest.skip("mcp-server-git: git is not installed here")
    repository = tmp_path / "repository"
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True, timeout=30)
    for n in range(8):
        (repository / "file.txt").write_text("".join(f"line {i} of version {n} é\n" for i in range(400)))
        subprocess.run(["git", "-C", str(repository), "add", "."], check=True, timeout=30)
        commit = ["git", "-C", str(repository), *who, "commit", "--quiet", "-m", f"version {n}"]
        subprocess.run(commit, check=True, timeout=30)
    (repository / "file.txt").write_text("changed\n")
    where = {"repo_path": str(repository)}
    calls: list[Call] = [
        ("git_status", where),
        ("git_log", where | {"max_count": 8}),
        ("git_diff_unstaged", where),
        ("git_show", where | {"revision": "HEAD~1"}),
        ("git_diff", where | {"target": "HEAD~3"}),
        ("git_show", where | {"revision": "nothing"}),
    ]
    server = [*installed.pypi("mcp-server-git"), "--repository", str(repository)]
    assert compare(tmp_path, server, calls) >= 5


@pytest.mark.long
def test_the_sqlite_server(tmp_path: Path, installed: Installed) -> None:
    database = tmp_path / "data.db"
    insert = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 900) "
    prepare = [
        ("create_table", {"query": "CREATE TABLE t (id INTEGER, name TEXT, price REAL)"}),
        ("write_query", {"query": f"INSERT INTO t {insert} SELECT n, 'name ' || n, n * 1.1 FROM c"}),
    ]
    calls: list[Call] = [
        ("read_query", {"query": "SELECT * FROM t"}),
        ("list_tables", {}),
        ("describe_table", {"table_name": "t"}),
        ("read_query", {"query": "SELECT * FROM nothing"}),
    ]
    server = [*installed.pypi("mcp-server-sqlite"), "--db-path", str(database)]
    assert compare(tmp_path, server, calls, prepare) >= 3


@pytest.mark.long
def test_the_fetch_server(tmp_path: Path, installed: Installed) -> None:
    site = tmp_path / "site"
    site.mkdir()
    paragraphs = "".join(f"<p>Paragraph {n} with <b>words</b> &amp; more.</p>" for n in range(300))
    (site / "page.html").write_text(f"<html><body><article><h1>A page</h1>{paragraphs}</article></body></html>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{web.server_port}/page.html"
        calls: list[Call] = [
            ("fetch", {"url": url, "max_length": 100_000, "raw": True}),
            ("fetch", {"url": url + "x"}),
        ]
        server = [*installed.pypi("mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"]
        try:
            assert compare(tmp_path, server, calls) >= 1
        finally:
            web.shutdown()
