"""Scripts pasted into bash: what they do to a server that stores its memories in a file, and what they show."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lro_conformance.capture.call import Call, CallAfterOthers, CallInContext
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.intervention import MENDED, REPLACED, SIZE_LIMIT, Intervention
from lro_conformance.capture.reproduce import of_call, of_cleaning, of_cleaning_at_start, of_steps
from lro_conformance.capture.start import Entry, Start
from lro_conformance.judging.subjects import Mark, MarkedSubject, reproducer_of
from lro_conformance.wire import jsonrpc

SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "tools/call":
        stores = asked["params"]["name"] == "store"
        path = "memories" if stores else os.path.join(os.environ["OUT"], "file.jsonl")
        try:
            with open(path, "a") as file:
                file.write(os.environ.get("TEXT", "x" * 3000))
            text, wrong = "written", False
        except OSError as problem:
            text, wrong = problem.strerror, True
        answer["result"] = {"content": [{"type": "text", "text": text}], "isError": wrong and stores}
    if os.environ["ID"] == "last":
        answer = {"result": answer.pop("result", {}), **answer}
    print(json.dumps(answer), flush=True)
"""


def made(stored: int, id: str = "first") -> Any:
    """A call of this server after so many stored memories; the *id* of an answer is its first or its last member."""
    requests = [jsonrpc.request(1, "initialize", {})]
    requests += [jsonrpc.request(n, "tools/call", {"name": "store", "arguments": {}}) for n in range(2, 2 + stored)]
    requests += [jsonrpc.request(2 + stored, "tools/call", {"name": "recall", "arguments": {}})]
    work = Path("/servers/0001")
    of: Any = Start
    start = of(
        1, (sys.executable, "-I", "-S", "-c", SERVER), {"OUT": str(work / "out"), "ID": id}, (), work, work,
        work / "tmp", {}, work / "out", seed=("store", "{}"), sent=lambda: requests,
    )  # fmt: skip
    reply = SimpleNamespace(raw=b"{}", request=requests[-1], elapsed_s=0.01, id=2 + stored)
    return SimpleNamespace(
        start=start, before=range(2, 2 + stored), reply=reply, file=None, output_dir=start.output_dir,
        started=0, ended=0,
    )  # fmt: skip


def call_with_file(text: str) -> Any:
    """A call of this server that writes a file of this text."""
    one, of = made(stored=0), cast("Any", Call)
    start = replace(one.start, env={**one.start.env, "TEXT": text})
    file = FileSeen(f"{start.output_dir}/file.jsonl", data=text.encode())
    return of("recall", "recall", {}, None, None, None, start, (), one.reply, 0, 0, 0, file, None, None)


def texts(script: str) -> list[tuple[int, str]]:
    """The answers that the script shows: ids and texts."""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [(m["id"], m["result"]["content"][0]["text"]) for m in messages if m.get("result")]


def test_memories_are_stored_before_the_size_of_files_is_limited() -> None:
    """The server's own file of memories exceeds the limit."""
    call = made(stored=4)
    assert texts(of_steps(call, [Intervention(SIZE_LIMIT, largest=2048)])) == [(6, "File too large")]


def test_a_limit_comes_after_what_failed_before_it() -> None:
    call = made(stored=4)
    steps: Sequence[Any] = (
        Intervention(REPLACED), call, Intervention(MENDED), Intervention(SIZE_LIMIT, largest=2048)
    )  # fmt: skip
    assert texts(of_steps(call, steps)) == [(6, "Not a directory"), (6, "File too large")]


@pytest.mark.parametrize("id", ["first", "last"])
@pytest.mark.parametrize("stored", [0, 2, 12])
def test_of_the_answers_to_requests_that_store_memories_errors_alone_are_shown(stored: int, id: str) -> None:
    script = of_call(made(stored, id))
    assert texts(script) == [(2 + stored, "written")]
    broken = script.replace('mkdir -p "$d"/tmp', 'mkdir -p "$d"/tmp "$d"/memories')
    refused = [(2 + n, "Is a directory") for n in range(stored)]
    assert texts(broken) == [*refused, (2 + stored, "written")]


LONG = f'{{"id": "a", "content": "{"é" * 300}END"}}'


@pytest.mark.parametrize(
    ("text", "mark", "shown"),
    [
        (f"header\n{LONG}\n", Mark((), 2, LONG.index("END")), "END"),
        (f"header\n{LONG}\n", Mark((), 2, LONG.index("é")), None),
        (f"header\n{LONG}\n", Mark(()), None),
        (f"header\n{LONG}\nlast\n", Mark((), 3), "last"),
        (f"header\n{LONG}\nlast\n", Mark((), 4), None),
        (f"header\n{LONG}\n", None, None),
    ],
)
def test_a_marked_part_of_a_file_is_shown_if_its_beginning_does_not_have_it(
    text: str, mark: Mark | None, shown: str | None
) -> None:
    call = call_with_file(text)
    inner = MarkedSubject(CallAfterOthers(call, ()), mark)
    script = reproducer_of(inner)
    for at in (MarkedSubject(inner, None, "place"), CallInContext(call, MarkedSubject(call, mark))):
        assert reproducer_of(at).splitlines()[-3:] == script.splitlines()[-3:]
    assert (" from byte " in script) == (shown is not None)
    if shown is not None:
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True)
        assert done.stderr == ""
        label, part = done.stdout.splitlines()[-2:]
        assert label.startswith(f"  line {mark.number if mark else 0} from byte ")
        assert shown in part
        assert len(part.encode()) <= 202


@pytest.mark.parametrize("name", ["$(touch owned)-recall-01.jsonl", "`touch owned`'\"-recall-01.jsonl"])
def test_a_file_name_that_the_server_chose_is_no_command(name: str, tmp_path: Path) -> None:
    """The name of planted files begins as that of the server's file, whatever that is."""
    call = replace(call_with_file("{}\n"), file=FileSeen(f"/servers/0001/out/{name}", data=b"{}\n"))
    script = of_cleaning(call, None, planted=[(60, "search")])
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert [p.name for p in tmp_path.rglob("*")] == []
    assert f"{name.partition('-')[0]}-search-" in done.stdout


def test_wildcards_in_a_file_name_delete_no_other_file() -> None:
    """A server without an output folder writes where it runs, and its file is deleted by the beginning of its name."""
    call = replace(call_with_file("{}\n"), file=FileSeen("*[a-recall-01.jsonl", data=b"{}\n"))
    call = replace(call, start=replace(call.start, output_dir=None, temp=Path("/elsewhere")))
    assert r"-name '\*\[a-*.jsonl' " in of_call(call)


def test_the_target_of_a_link_that_the_server_made_is_no_option(tmp_path: Path) -> None:
    """`ln -s -sft/home/user` would link a file of the home directory."""
    start = call_with_file("").start
    start = replace(start, planted=(Entry(".bashrc", 1, target=f"-sft{tmp_path}"),))
    script = of_cleaning_at_start(start)
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert [p.name for p in tmp_path.iterdir()] == []
    assert "out" in script
    assert done.returncode == 0


def test_nothing_is_planted_where_the_script_is_pasted(tmp_path: Path) -> None:
    """Also not if the server, this time, writes no file that could be copied."""
    call = replace(
        call_with_file("{}\n"),
        start=replace(call_with_file("{}\n").start, env={"OUT": "/dev/null/none", "ID": "first"}),
    )
    script = of_cleaning(call, None, planted=[(60, "search")])
    subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert [p.name for p in tmp_path.iterdir()] == []
