"""`lro proxy --private-folder` and `--mask-secrets`: what others may not see."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from tests.support.proxying import SCRIPTED, Client, proxy, records, started

LARGE = "a line\n" * 3000
LATER = "01KJPY44E0A1B2C3D4E5F6G7H8"


def text_of(client: Client, text: str) -> str:
    result = json.dumps({"content": [{"type": "text", "text": text}]})
    return client.result("say", result=result)["content"][0]["text"]


def goes(path: Path) -> bool:
    until = time.monotonic() + 20
    while path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return not path.exists()


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    paths: list[Path] = []
    for _ in range(2):
        with proxy(tmp_path, "--private-folder") as client:
            paths.append(Path(json.loads(text_of(client, LARGE))["file_path"]))
            assert stat.S_IMODE(paths[-1].parent.stat().st_mode) == 0o700
            assert client.leave() == 0
    assert [path.parent.parent for path in paths] == [tmp_path] * 2
    assert paths[0].parent != paths[1].parent
    assert all(len(records(str(path))[1]) == 3000 for path in paths)  # they stay until their time is over


@pytest.mark.parametrize("how", ["leaves", "is ended"])
def test_a_run_that_wrote_nothing_leaves_no_folder(tmp_path: Path, how: str) -> None:
    with proxy(tmp_path, "--private-folder") as client:
        path = Path(json.loads(text_of(client, LARGE))["file_path"])
        path.unlink()
        if how == "leaves":
            assert client.leave() == 0
        else:
            client.process.terminate()
            client.process.wait(20)
    assert list(tmp_path.iterdir()) == []


def test_expired_files_of_earlier_runs_go_with_their_folders(tmp_path: Path) -> None:
    old, held, link = (tmp_path / f"lro-run-{LATER[:-1]}{n}" for n in range(3))
    foreign = tmp_path / "lro-run-mine"
    target = tmp_path / "target"
    for folder in (old, held, foreign, target):
        folder.mkdir()
        (folder / f"lro-say-{LATER}.jsonl").write_text("{}\n")
    (held / "notes.txt").write_text("mine")
    link.symlink_to(target)
    past = time.time() - 7200
    with proxy(tmp_path, "--private-folder") as client:
        text_of(client, "begin")
        assert goes(old / f"lro-say-{LATER}.jsonl")
        client.leave()
    assert not list(old.iterdir())  # emptied just now, so it may still be about to be written to
    assert [path.name for path in held.iterdir()] == ["notes.txt"]
    assert list(foreign.iterdir())
    assert list(target.iterdir())
    os.utime(old, (past, past))
    os.utime(held, (past, past))
    with proxy(tmp_path, "--private-folder") as client:
        assert goes(old)
        client.leave()
    assert held.is_dir()


SECRETS = {"DB_PASSWORD": 'hunter2"\n/ü', "API_TOKEN": "sk-123456", "PIN_TOKEN": "12345678", "MAX_TOKENS": "6400000"}


def test_secrets_are_in_no_answer_and_in_no_file(tmp_path: Path) -> None:
    inside = json.dumps({"password": SECRETS["DB_PASSWORD"], "n": 12345678})
    with proxy(tmp_path, "--mask-secrets", **SECRETS) as client:
        said = text_of(client, f"{SECRETS['DB_PASSWORD']} {SECRETS['API_TOKEN']} {inside} 6400000")
        assert (
            said
            == '[masked DB_PASSWORD] [masked API_TOKEN] {"password": "[masked DB_PASSWORD]", "n": 12345678} 6400000'
        )
        descriptor = json.loads(text_of(client, LARGE + f"the token is {SECRETS['API_TOKEN']}"))
        _, lines = records(descriptor["file_path"])
        assert lines[-1]["text"] == "the token is [masked API_TOKEN]"


def test_nothing_is_masked_unasked(tmp_path: Path) -> None:
    with proxy(tmp_path, **SECRETS) as client:
        assert text_of(client, SECRETS["API_TOKEN"]) == SECRETS["API_TOKEN"]


def test_what_a_file_of_servers_gives_is_masked_too(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    server = {"command": SCRIPTED[0], "args": list(SCRIPTED[1:]), "env": {"GITHUB_TOKEN": "ghp_abcdef"}}
    config.write_text(json.dumps({"mcpServers": {"one": server}}))
    command = [sys.executable, "-m", "lro_proxy", "--mask-secrets", "--config", str(config)]
    with started(command) as client:
        client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities={}))
        assert text_of(client, "the token is ghp_abcdef") == "the token is [masked GITHUB_TOKEN]"
