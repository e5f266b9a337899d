"""Savings, honestly: losses are negative, a client's own ceiling counts, and so does what is read back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lro_proxy.gain import command
from lro_proxy.gain.accounts import CEILINGS, NO_CEILING, Account, Accounts, Ceiling, Entry, ceiling_of
from lro_proxy.gain.ledger import Ledger, record_path
from tests.support.proxying import Client, proxy

LARGE = json.dumps({"content": [{"type": "text", "text": "word number one\n" * 2000}]})  # 8,000 tokens
SMALL = json.dumps({"content": [{"type": "text", "text": "small" * 8}]})


def account(*entries: Entry, ceiling: Ceiling | None = NO_CEILING) -> Account:
    return Accounts(ceiling).add_all(entries).total


def test_a_loss_is_negative() -> None:
    """A descriptor that is larger than its result, as rtk's accounts never show (rtk#3702)."""
    total = account(Entry("call", 300, 900, offloaded=True, tool="t"))
    assert total.saved == -600
    assert account(Entry("list", sent=50)).saved == -50


def test_a_result_counts_for_no_more_than_the_client_would_have_shown() -> None:
    """587.9 million tokens were 3.2 million when they were counted so (rtk#3508)."""
    large = Entry("call", 100_000, 500, offloaded=True, tool="t", client="claude-code")
    assert account(large).saved == 99_500
    assert account(large, ceiling=Ceiling(50_000, 50_000)).saved == 12_500 - 500
    assert account(large, ceiling=None).saved == account(large, ceiling=CEILINGS["claude-code"]).saved == 500 - 500
    below = Entry("call", 12_500, 500, offloaded=True, tool="t", client="claude-code")
    assert account(below, ceiling=None).saved == 12_000


def test_what_is_read_back_is_subtracted() -> None:
    """Bytes that are not shown are no savings if they have to be read again (rtk#2805)."""
    call = Entry("call", 8000, 600, offloaded=True, tool="t")
    reads = [Entry("read", sent=3000, tool="t"), Entry("read", sent=6000, tool="t")]
    assert account(call, reads[0]).saved == 8000 - 600 - 3000
    assert account(call, *reads).saved == -1600


SIZES = st.integers(0, 10**6)
ENTRIES = st.builds(
    Entry, st.sampled_from(["call", "read", "list"]), SIZES, SIZES, st.booleans(), st.sampled_from("ab")
)


@given(st.lists(ENTRIES))
def test_the_total_is_that_of_the_tools_and_the_lists(entries: list[Entry]) -> None:
    accounts = Accounts().add_all(entries)
    tools = [one.to_dict() for one in accounts.tools.values()]
    total = accounts.total.to_dict()
    assert all(total[key] == sum(one[key] for one in tools) for key in total if key not in ("listed", "saved"))
    assert total["saved"] == sum(one["saved"] for one in tools) - total["listed"]


@pytest.mark.parametrize(
    ("name", "known"),
    [("claude-code", "claude-code"), ("Claude-Code 2", "claude-code"), ("codex-mcp-client", "codex"), ("", "none")],
)
def test_a_client_is_known_by_its_name(name: str, known: str) -> None:
    assert ceiling_of(name) is CEILINGS[known]


# --- the record


def greet(client: Client, name: str = "claude-code") -> None:
    params: dict[str, Any] = {"capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
    client.answer(client.post("initialize", protocolVersion="2025-11-25", **params))
    client.answer(client.post("tools/list"))


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def test_a_run_is_recorded_without_contents(tmp_path: Path) -> None:
    record = tmp_path / "state" / "gain.jsonl"
    with proxy(
        tmp_path / "out", "--tools", "extract", stderr=subprocess.PIPE, threshold=2000, LRO_GAIN=str(record)
    ) as client:
        greet(client)
        path = json.loads(text_of(client.result("say", result=LARGE)))["file_path"]
        client.result("say", result=SMALL)
        client.result("say", result=SMALL, path=path)  # a tool of the server that reads the file
        read = text_of(client.result("lro_extract", file_path=path, query="select(.n < 100)"))
        client.leave()
        assert client.process.stderr
        said = client.process.stderr.read().decode()
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(one["kind"], one["tool"], one["offloaded"]) for one in entries] == [
        ("list", "", False),
        ("call", "say", True),
        ("call", "say", False),
        ("read", "say", False),
        ("read", "say", False),
    ]
    assert {one["client"] for one in entries} == {"claude-code"}
    assert (entries[1]["tokens"], entries[2]["sent"], entries[3]["sent"]) == (8000, 10, 10)
    assert entries[4]["sent"] == -(-len(read) // 4)
    assert not any(word in record.read_text() for word in ("word number", "small", str(tmp_path)))
    assert (record.stat().st_mode & 0o777, record.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    saved = 8000 - sum(one["sent"] for one in entries if one != entries[2])
    assert f"lro proxy: 2 results, 1 of them offloaded: {saved:,} tokens saved (8,000 not shown; " in said
    assert said.count("More: lro gain") == 1


def test_what_is_read_as_a_resource_or_by_name_is_read_back(tmp_path: Path) -> None:
    record = tmp_path / "gain.jsonl"
    with proxy(tmp_path / "out", "--links", "--tools", "extract", threshold=2000, LRO_GAIN=str(record)) as client:
        greet(client)
        link = client.result("say", result=LARGE)["content"][1]
        (read,) = client.answer(client.post("resources/read", uri=f"{link['uri']}?lines=2-9"))["result"]["contents"]
        assert "error" in client.answer(client.post("resources/read", uri="lro:///other"))
        by_name = text_of(client.result("lro_extract", file_path=link["name"], query="select(.n < 9)"))
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(one["tool"], one["sent"]) for one in entries if one["kind"] == "read"] == [
        ("say", -(-len(read["text"]) // 4)),
        ("say", -(-len(by_name) // 4)),
    ]


def test_a_signal_ends_with_the_sums_too(tmp_path: Path) -> None:
    with proxy(tmp_path, stderr=subprocess.PIPE) as client:
        client.result("say", result=LARGE)
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(10) == 143
        assert client.process.stderr
        assert b"1 result, 1 of them offloaded" in client.process.stderr.read()


@pytest.mark.parametrize("how", ["flag", "variable", "a folder", "no permission"])
def test_no_record_costs_no_answer(tmp_path: Path, how: str) -> None:
    record = tmp_path / "gain.jsonl"
    if how == "a folder":
        record.mkdir()
    elif how == "no permission":
        record = Path("/proc/gain/gain.jsonl")
    options = ("--no-record",) if how == "flag" else ()
    with proxy(tmp_path / "out", *options, LRO_GAIN="off" if how == "variable" else str(record)) as client:
        assert json.loads(text_of(client.result("say", result=LARGE)))["offloaded"] is True
        assert client.leave() == 0
    assert record.is_file() is False


def test_the_record_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert record_path({}) == str(tmp_path / ".local/state/lro/gain.jsonl")
    assert record_path({"XDG_STATE_HOME": "relative"}) == record_path({})
    assert record_path({"XDG_STATE_HOME": "/var/s"}) == "/var/s/lro/gain.jsonl"
    assert record_path({"LRO_GAIN": "/x"}) == "/x"
    assert record_path({"LRO_GAIN": "off"}) is None


def test_a_link_in_the_place_of_the_record_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "gain").symlink_to(tmp_path / "elsewhere")
    Ledger(str(tmp_path / "gain")).count_result("t", {}, 5)
    assert not (tmp_path / "elsewhere").exists()


# --- lro gain


def test_gain_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "gain.jsonl"
    ledger = Ledger(str(record))
    ledger.client = "claude-code"
    ledger.note_file("/a", 9000)
    ledger.count_result("read_text_file", {}, 700)
    ledger.note_file("/b", 800)
    ledger.count_result("list_directory", {}, 900)
    ledger.count_result("read_text_file", {}, 40)
    ledger.count_read_back({"file_path": "/a"}, ["x" * 400])
    ledger.count_listing(56)
    with record.open("ab") as file:
        file.write(b'{"kind": "call", "tokens": "x"}\n[]\n{"kind"')
    record.with_name("gain.jsonl.1").write_bytes(record.read_bytes())
    assert command.main(["--record", str(record)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tool            calls  offloaded     raw   shown  descriptors  read back   saved",
        "read_text_file      4          2  18,000  18,000        1,400        200  16,400",
        "list_directory      2          2   1,600   1,600        1,800          0    -200",
        "all results         6          4  19,600  19,600        3,200        200  16,200",
        "",
        "inline        80 tokens in 2 results, which stayed as they came",
        "tools/list    28 tokens added",
        "net           16,172 tokens saved",
        "shown         what the client would have shown of the offloaded results (ceiling: each client's, by its name)",
        "read back     through the proxy or its server; what a shell reads from the files is not counted",
        "break-even    4,093 tokens read back for each offloaded result",
    ]
    assert command.main(["--record", str(record), "--json", "--ceiling", "2000"]) == 0
    total = json.loads(capsys.readouterr().out)["total"]
    assert (total["raw"], total["shown"], total["saved"]) == (19_600, 2000, 2000 - 3428)
    old = record.read_text().replace('"at":"20', '"at":"19')
    record.with_name("gain.jsonl.1").write_text(old)
    assert command.main(["--record", str(record), "--days", "30"]) == 0
    assert "net           8,086 tokens saved" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--record", "/nowhere"], 3, "no record yet"),
        (["--ceiling", "much", "--record", "/nowhere"], 2, "--ceiling must be"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("lro gain: ")
    assert said in line


def test_gain_is_a_command(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "lro_conformance", "gain", "--record", str(tmp_path / "none")]
    assert subprocess.run(words, capture_output=True, timeout=60, check=False).returncode == 3
