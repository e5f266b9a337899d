"""`lro proxy --install`: edits a client's configuration and nothing else in it, and undoes that to the byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lro_proxy.__main__ import main
from lro_proxy.install import jsonc
from lro_proxy.install.clients import clients
from lro_proxy.install.command import _server_name
from lro_proxy.install.document import Document, Json, Toml
from lro_proxy.install.edits import add, undo, wrap
from tests.support.proxying import SCRIPTED, started

LRO = [os.path.join(os.path.dirname(sys.executable), "lro"), "proxy"]
PROXY = [*LRO, "--"]
COMMENTED = """\
// the servers of this project
{
\t"inputs": [ {"type": "promptString", "id": "key", "password": true,}, ],
\t"servers": {
\t\t"files": {
\t\t\t"args": [
\t\t\t\t"-y",  // without asking
\t\t\t\t"@modelcontextprotocol/server-filesystem",
\t\t\t\t"/home/me \\u00e9",
\t\t\t],
\t\t\t"type": "stdio", /* always */ "command" : "npx",
\t\t\t"env": {"A": "{\\"command\\": \\"x\\"}"}
\t\t},
\t\t"bare": {"command": "my-server"}, "empty": {"command": "one", "args": [ ]},
\t\t"remote": {"type": "http", "url": "https://example.org/mcp"},
\t\t"ours": {"command": "/opt/bin/lro", "args": ["proxy", "--", "x"]},
\t},
\t"number": 1.50e3, // stays
}
"""
TABLES = """\
# Codex
model = "gpt-5"
notes = \"\"\"
[mcp_servers.fake]
command = "no"
\"\"\"

[mcp_servers.files]   # files
args = [ '-y',
  "@modelcontextprotocol/server-filesystem",  # a ] in a comment
  '/home/me',
]
command = 'npx'   # not asked
startup_timeout_sec = 20.0

[mcp_servers.files.env]
command = "not this one"

[mcp_servers."a b"]
command = "my-server"

[mcp_servers.remote]
url = "https://example.org/mcp"

[mcp_servers]
inline = {command = "x"}

[[other]]
command = "y"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return home


def behind(words: Sequence[str]) -> dict[str, Any]:
    return {"command": LRO[0], "args": [*PROXY[1:], *words]}


def test_a_file_with_comments_keeps_all_but_the_commands(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "mcp.json"
    path.write_bytes(COMMENTED.encode())
    path.chmod(0o640)
    assert main(["--install", "vscode", "--file", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"{path} (copy: {path}.before-lro)",
        "  files   now behind lro proxy",
        "  bare    now behind lro proxy",
        "  empty   now behind lro proxy",
        "  remote  left as it is: it is reached over HTTP (see lro proxy --url)",
        "  ours    already behind lro proxy",
        f"undo: lro proxy --install vscode --undo --file {path}",
    ]
    text = path.read_text()
    was, now = jsonc.read(COMMENTED).value, jsonc.read(text).value
    files = was["servers"]["files"]
    assert now["servers"].pop("files") == files | behind(["npx", *files["args"]])
    assert now["servers"].pop("bare") == behind(["my-server"])
    assert now["servers"].pop("empty") == behind(["one"])
    assert now["servers"] == {name: was["servers"][name] for name in ("remote", "ours")}
    assert (now["inputs"], now["number"]) == (was["inputs"], was["number"])
    kept = [line for line in COMMENTED.splitlines() if "command" not in line]
    assert [line for line in text.splitlines() if line in kept] == kept
    assert '\t\t\t\t"npx",\n\t\t\t\t"-y",  // without asking\n' in text
    assert path.stat().st_mode & 0o777 == (home / "mcp.json.before-lro").stat().st_mode & 0o777 == 0o640
    assert (home / "mcp.json.before-lro").read_text() == COMMENTED
    assert main(["--install", "vscode", "--file", str(path)]) == 0  # once more changes nothing
    assert "undo" not in capsys.readouterr().out
    assert path.read_text() == text
    assert main(["--install", "vscode", "--file", str(path), "--undo"]) == 0
    assert path.read_bytes() == COMMENTED.encode()
    assert [one.name for one in home.rglob("*") if one.is_file()] == ["mcp.json"]


def test_tables_keep_all_but_the_commands(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(TABLES)
    assert main(["--install", "codex", "--threshold-tokens", "2000", "--tools", "extract"]) == 0
    assert "  inline  left as it is: it is written in a form that is not edited\n" in capsys.readouterr().out
    was, now = tomllib.loads(TABLES), tomllib.loads(path.read_text())
    words = [*LRO[1:], "--threshold-tokens", "2000", "--tools", "extract", "--"]
    expected = was["mcp_servers"]
    arguments = [*words, "npx", *expected["files"]["args"]]
    expected["files"] |= {"command": LRO[0], "args": arguments}
    expected["a b"] = {"command": LRO[0], "args": [*words, "my-server"]}
    assert now == was
    assert main(["--install", "codex", "--undo"]) == 0
    assert path.read_text() == TABLES


@pytest.mark.parametrize("client", ["claude-code", "claude-desktop", "cursor", "vscode", "codex"])
def test_a_server_is_added_where_there_is_no_file(client: str, home: Path) -> None:
    command = ["npx", "-y", "@modelcontextprotocol/server-filesystem@2026.1.1", "/home/me"]
    assert main(["--install", client, "--", *command]) == 0
    (path,) = (one for one in home.rglob("*") if one.is_file() and ".local" not in one.parts)
    known = clients({})[client]
    section = known.document_class.load(path.read_text())[known.section]
    words = [*LRO[1:], *known.options, "--", *command]
    assert section == {"filesystem": {**known.entry_members, "command": LRO[0], "args": words}}
    text = path.read_text()
    for again in ((), ("--", *command)):
        assert main(["--install", client, *again]) == 0
        assert path.read_text() == text
    assert main(["--install", client, "--server", "more", "--", "other"]) == 0
    assert list(known.document_class.load(path.read_text())[known.section]) == ["filesystem", "more"]
    assert main(["--install", client, "--undo"]) == 0
    assert [one for one in home.rglob("*") if one.is_file()] == []


@pytest.mark.parametrize(
    ("client", "project"),
    [("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json")],
)
def test_the_file_of_a_project_comes_first(client: str, project: str) -> None:
    path = Path(project)
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    assert main(["--install", client, "--", "x"]) == 0
    assert json.loads(path.read_text())[clients({})[client].section]["x"]["command"] == LRO[0]
    assert main(["--install", client, "--undo"]) == 0
    assert path.read_text() == "{}"


def test_only_the_named_server(home: Path) -> None:
    path = home / "mcp.json"
    path.write_text(COMMENTED)
    assert main(["--install", "vscode", "--file", str(path), "--server", "bare"]) == 0
    now, was = jsonc.read(path.read_text()).value["servers"], jsonc.read(COMMENTED).value["servers"]
    assert [name for name in was if now[name] != was[name]] == ["bare"]
    assert '"bare": {"command": "' in path.read_text()


def test_what_was_changed_since_is_kept(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "mcp.json"
    path.write_text(COMMENTED)
    main(["--install", "vscode", "--file", str(path)])
    text = path.read_text().replace('"my-server"]', '"my-server", "--new"]').replace("1.50e3", "2")
    path.write_text(text)
    capsys.readouterr()
    assert main(["--install", "vscode", "--file", str(path), "--undo"]) == 1
    assert "  bare   left as it is: it was changed or removed since\n" in capsys.readouterr().out
    now, was = jsonc.read(path.read_text()).value, jsonc.read(COMMENTED).value
    assert now["servers"].pop("bare") == behind(["my-server", "--new"])
    was["servers"].pop("bare")
    assert now == was | {"number": 2}
    assert (home / "mcp.json.before-lro").read_text() == COMMENTED
    assert main(["--install", "vscode", "--file", str(path), "--undo"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["  bare  left as it is: it was changed or removed since"]


def test_a_client_may_have_written_the_file_again(home: Path) -> None:
    """Claude Code does that all the time."""
    path = home / ".claude.json"
    was = {"seen": 1, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "args": ["z"], "env": {}}}}
    path.write_text(json.dumps(was))
    assert main(["--install", "claude-code"]) == 0
    assert main(["--install", "claude-code", "--server", "c", "--", "w"]) == 0
    now = json.loads(path.read_text())
    assert list(now["mcpServers"]) == ["a", "b", "c"]
    path.write_text(json.dumps(now | {"seen": 2}, indent=4))
    assert main(["--install", "claude-code", "--undo"]) == 0
    assert json.loads(path.read_text()) == was | {"seen": 2}


@pytest.mark.parametrize("others", [[], ["p"], ["p", "q"]])
@pytest.mark.parametrize("first", [True, False])
def test_an_added_server_is_removed_from_among_others(home: Path, others: list[str], first: bool) -> None:
    path = home / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {name: {"url": "u"} for name in others}}))
    assert main(["--install", "cursor", "--file", str(path), "--", "x"]) == 0
    servers = json.loads(path.read_text())["mcpServers"]
    servers = dict(sorted(servers.items(), key=lambda one: (one[0] == "x") is not first))
    path.write_text(json.dumps({"mcpServers": servers}, indent="\t"))
    assert main(["--install", "cursor", "--file", str(path), "--undo"]) == 0
    assert list(json.loads(path.read_text())["mcpServers"]) == others


def test_through_a_link_the_file_itself_is_edited(home: Path) -> None:
    real, link = home / "real.json", home / "link.json"
    real.write_text('{"mcpServers": {"a": {"command": "x"}}}')
    link.symlink_to(real)
    main(["--install", "cursor", "--file", str(link)])
    assert link.is_symlink()
    assert json.loads(real.read_text())["mcpServers"]["a"] == behind(["x"])
    main(["--install", "cursor", "--file", str(link), "--undo"])
    assert real.read_text() == '{"mcpServers": {"a": {"command": "x"}}}'


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ('{"mcpServers": {"a": {"command": "x"}, "a": {}}}', [], "twice"),
        ('{"mcpServers": []}', [], "is not an object"),
        ("[]", [], "not a JSON object"),
        ("{} {}", [], "more than one value"),
        pytest.param("[" * 100_000, [], "nested too deeply", id="deep"),
        ('{"mcpServers": {', [], "line 1"),
        ('{"mcpServers": {}}', [], "has no servers"),
        ('{"mcpServers": {"a": {"command": "x"}}}', ["--server", "b"], "has no server 'b'"),
        ('{"mcpServers": {"a": {"command": "x"}}}', ["--server", "a", "--", "y"], "already, with another command"),
        ('{"mcpServers": {"a": {"args": null}}}', ["--server", "a", "--", "y"], "already, with another command"),
        ('{"mcpServers": {"a": []}}', ["--server", "a", "--", "y"], "already, with another command"),
        ("{}", ["--", "lro", "proxy", "--", "y"], "without lro proxy"),
        ("{}", ["--threshold-tokens", "-5", "--", "y"], "--threshold-tokens must be"),
        ("{}", ["--undo"], "nothing to undo"),
    ],
)
def test_a_wrong_call_changes_nothing(
    text: str, arguments: list[str], said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "mcp.json"
    path.write_text(text)
    assert main(["--install", "cursor", "--file", str(path), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert [one.name for one in home.rglob("*") if one.is_file()] == ["mcp.json"]
    assert path.read_text() == text


def test_an_installed_server_answers(home: Path) -> None:
    main(["--install", "cursor", "--", *SCRIPTED])
    entry = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["scripted"]
    with started([entry["command"], *entry["args"]]) as client:
        assert client.result("say", result='{"content":[]}') == {"content": []}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["npx", "-y", "@modelcontextprotocol/server-memory"], "memory"),
        (["uvx", "mcp-server-git", "--repository", "."], "git"),
        (["pipx", "run", "arxiv-mcp-server==1.0"], "arxiv"),
        (["python", "/srv/my_server.py"], "my_server"),
        (["/usr/local/bin/github-mcp-server", "stdio"], "github"),
        (["docker", "run", "-i", "--rm", "mcp/fetch:1"], "fetch1"),
    ],
)
def test_a_server_is_named_after_its_package(command: list[str], name: str) -> None:
    assert _server_name(command) == name


# --- any configuration

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), min_size=1, max_size=8)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
ENTRIES = st.fixed_dictionaries(
    {"command": WORDS},
    optional={
        "args": st.lists(WORDS, max_size=3),
        "env": st.dictionaries(NAMES, WORDS, max_size=2),
        "url": st.just("u"),
    },
)
SERVERS = st.dictionaries(NAMES, ENTRIES, max_size=4)


def json_texts(value: Any, draw: Any) -> str:
    """A value as JSON with random spaces, comments and commas."""
    space = st.sampled_from(["", "", " ", "\n  ", "\r\n", "/* } */", "// ]\n", "\t"])
    match value:
        case dict():
            items = [f"{json.dumps(k)}{draw(space)}:{draw(space)}{json_texts(v, draw)}" for k, v in value.items()]
        case list():
            items = [json_texts(one, draw) for one in value]
        case _:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
    left, right = ("{", "}") if isinstance(value, dict) else ("[", "]")
    comma = draw(st.sampled_from(["", ","])) if items else ""
    return left + draw(space) + f"{draw(space)},{draw(space)}".join(items) + comma + draw(space) + right


def toml_texts(value: dict[str, Any], draw: Any) -> str:
    """Tables of servers as TOML."""

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    def written(part: Any) -> str:
        if isinstance(part, dict):
            return f"{{{', '.join(f'{quoted(k)} = {quoted(v)}' for k, v in part.items())}}}"
        gap = draw(st.sampled_from(["", " ", "\n", " # ] x\n  "]))
        return quoted(part) if isinstance(part, str) else f"[{gap}{f',{gap}'.join(map(quoted, part))}{gap}]"

    lines: list[str] = []
    for name, entry in value.items():
        lines.append(f"[mcp_servers.{quoted(name)}]{draw(st.sampled_from(['', ' # [x]', '  ']))}")
        lines += [f"{key}{draw(st.sampled_from(['=', ' = ']))}{written(part)}" for key, part in entry.items()]
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, ""])


@st.composite
def documents(draw: Any) -> Document:
    servers = draw(SERVERS)
    if draw(st.booleans()):
        return Json(json_texts({"x": [1.5, None], "mcpServers": servers, "y": {}}, draw), "mcpServers")
    return Toml(toml_texts(servers, draw), "mcp_servers")


@given(documents(), NAMES, st.booleans())
def test_any_configuration_is_edited_as_meant_and_undone_to_the_byte(document: Document, name: str, adds: bool) -> None:
    wrapped = wrap(document, [], PROXY)
    edits = list(wrapped.edits)
    after = type(document)(wrapped.text, document.section)
    for server, entry in document.servers.items():
        moved = behind([entry["command"], *entry.get("args", [])]) if "url" not in entry else {}
        assert after.servers[server] == entry | moved
    if adds and name not in after.servers:
        added = add(after, name, behind(["x"]))
        edits += added.edits
        after = type(document)(added.text, document.section)
        assert after.servers[name] == behind(["x"])
    assert undo(after, edits).text == document.text


def test_it_is_a_command_of_lro(home: Path) -> None:
    words = [sys.executable, "-m", "lro_conformance", "proxy", "--install", "cursor", "--", "x"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / ".cursor/mcp.json").exists()
