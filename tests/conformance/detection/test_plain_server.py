"""The hand-written server does what the text says, and every variant of it runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.servers.faults.catalogue import Fault, faults
from tests.servers.plain import Server
from tests.servers.sound.catalogue import Sound, sounds
from tests.servers.variants import command, profile_text

FAULTS = faults()
SOUND = sounds()
Request = tuple[str, dict[str, Any]]
NAME = re.compile(r"atlatl-(recall|search|inject)-[0-7][0-9A-HJKMNP-TV-Z]{25}\.jsonl")


def settings(**values: object) -> dict[str, str]:
    """The documented environment variables."""
    return {f"ATLATL_PROMPT__OFFLOAD__{name.upper()}": str(value) for name, value in values.items()}


def converse(argv: list[str], requests: list[Request], env: dict[str, str]) -> list[dict[str, Any]]:
    """Send requests all at once, close the input, and return the answers in the order of the requests."""
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(requests)
    ]
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run(argv, input=text.encode(), capture_output=True, timeout=60, env={**os.environ, **env})
    answers: dict[int, dict[str, Any]] = {}
    for line in done.stdout.split(b"\n"):
        if line.startswith(b"{"):
            message = json.loads(line)
            if "method" not in message and message["id"] not in answers:
                answers[message["id"]] = message
    assert len(answers) == len(requests), done.stderr.decode()[-2000:]
    return [answers[number] for number in range(len(requests))]


def call(tool: str, env: dict[str, str], **arguments: Any) -> dict[str, Any]:
    """The result of one tool call to the plain server."""
    [answer] = converse(command(), [("tools/call", {"name": tool, "arguments": arguments})], env)
    return answer["result"]


def value(result: dict[str, Any]) -> Any:
    return json.loads(result["content"][0]["text"])


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_bytes().decode().removesuffix("\n").split("\n")]


TOOLS = {"recall": "recall_memories", "search": "search_memories", "inject": "inject_context"}


@pytest.mark.parametrize("detail", ["light", "medium", "full"])
@pytest.mark.parametrize("operation", TOOLS)
def test_threshold_is_exact(operation: str, detail: str, tmp_path: Path) -> None:
    arguments = {"query": "memory", "detail": detail}
    first = value(call(TOOLS[operation], settings(threshold_tokens=1, output_dir=tmp_path), **arguments))
    tokens = lines(first["file_path"])[0]["estimated_tokens"]
    over = call(TOOLS[operation], settings(threshold_tokens=tokens - 1, output_dir=tmp_path), **arguments)
    equal = call(TOOLS[operation], settings(threshold_tokens=tokens, output_dir=tmp_path), **arguments)
    assert value(over)["summary"]["estimated_tokens"] == tokens
    assert '"offloaded"' not in equal["content"][0]["text"]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("operation", TOOLS)
def test_descriptor_agrees_with_the_file(operation: str, tmp_path: Path) -> None:
    env = settings(threshold_tokens=1, output_dir=tmp_path)
    descriptor = value(call(TOOLS[operation], env, query="Memory", detail="full"))
    header, *records = lines(descriptor["file_path"])
    summary = descriptor["summary"]
    assert set(header) == {
        *("type", "operation", "query", "count", "schema_version", "timestamp", "estimated_tokens", "detail")
    }
    assert (header["type"], header["operation"], header["query"]) == ("lro_header", operation, "Memory")
    assert header["count"] == summary["count"] == len(records) == len({r["id"] for r in records}) == 200
    assert header["detail"] == summary["detail"] == "full"
    assert NAME.fullmatch(Path(descriptor["file_path"]).name)
    assert Path(descriptor["file_path"]).parent == tmp_path
    assert os.stat(descriptor["file_path"]).st_mode & 0o777 == 0o600
    assert len(summary["top_namespaces"]) == 5
    assert all("tail -n +2 " + descriptor["file_path"] in recipe["command"] for recipe in descriptor["jq_recipes"])
    assert len(descriptor["jq_recipes"]) == 10
    assert descriptor["file_path"] in descriptor["guidance"]


def test_file_holds_what_inline_shows(tmp_path: Path) -> None:
    for detail in ("light", "medium", "full"):
        inline = value(call("recall_memories", settings(threshold_tokens=10**6), detail=detail))["results"]
        env = settings(threshold_tokens=1, output_dir=tmp_path)
        offloaded = lines(value(call("recall_memories", env, detail=detail))["file_path"])[1:]
        assert inline == offloaded
        assert all(("content" in record) == (detail != "light") for record in offloaded)


def test_corpus_lies_on_both_sides_of_the_default_threshold(tmp_path: Path) -> None:
    env = settings(output_dir=tmp_path)
    assert value(call("recall_memories", env))["summary"]["estimated_tokens"] > 6400
    assert value(call("recall_memories", env, limit=50))["count"] == 50


@pytest.mark.parametrize("operation", TOOLS)
def test_write_failure_returns_what_fits(operation: str, tmp_path: Path) -> None:
    env = settings(threshold_tokens=500, output_dir=tmp_path / "missing")
    result = call(TOOLS[operation], env, detail="light")
    text = result["content"][0]["text"]
    assert result["isError"] is False
    assert "Offloading failed" in text
    assert "truncated" in text
    if operation != "inject":
        results = value(result)["results"]
        assert 0 < len(results) < 200
        assert sum(len(json.dumps(record, ensure_ascii=False)) for record in results) <= 500 * 4


def test_cleanup_deletes_what_has_expired_and_nothing_else(tmp_path: Path) -> None:
    def planted(name: str, age: float) -> Path:
        path = tmp_path / name
        path.write_text("{}\n")
        then = time.time() - age
        os.utime(path, (then, then))
        return path

    old = planted("atlatl-recall-01JGFJJZ003D92BGSGWEN8QNHF.jsonl", 7200)
    undated = planted("atlatl-search-of-old.jsonl", 3700)
    stay = [
        planted("atlatl-search-of-late.jsonl", 3500),
        planted("notes-recall-01JGFJJZ003D92BGSGWEN8QNHF.jsonl", 7200),
        planted("atlatl-recall-01JGFJJZ003D92BGSGWEN8QNHF.json", 7200),
    ]
    link = tmp_path / "atlatl-recall-01JGFJJZ003D92BGSGWEN8QNHG.jsonl"
    link.symlink_to(stay[1])
    requests: list[Request] = [
        ("tools/call", {"name": "recall_memories", "arguments": {}}),
        ("tools/call", {"name": "run_custodial_task", "arguments": {"task": "offload_cleanup"}}),
    ]
    recall, task = converse(command(), requests, settings(output_dir=tmp_path))
    assert value(task["result"])["deleted"] == 2
    assert not old.exists()
    assert not undated.exists()
    assert all(path.exists() for path in [*stay, link, Path(value(recall["result"])["file_path"])])


def test_stored_memories_come_back_unchanged(tmp_path: Path) -> None:
    memory = {"id": "m-1", "title": "zyzzyva \u2028 \U0001f680 \ud800", "extensions": {"n": 2**70, "x": 1e-9}}
    requests: list[Request] = [
        ("tools/call", {"name": "store_memory", "arguments": {"memory": memory}}),
        ("tools/call", {"name": "recall_memories", "arguments": {"query": "zyzzyva", "detail": "full"}}),
    ]
    _, recall = converse(command(), requests, settings(threshold_tokens=1, output_dir=tmp_path))
    [record] = lines(value(recall["result"])["file_path"])[1:]
    assert record["title"] == "zyzzyva \u2028 \U0001f680 \ufffd"
    assert record["extensions"] == memory["extensions"]


def test_paths_survive_a_shell(tmp_path: Path) -> None:
    folder = tmp_path / "a b'c\"d; touch x"
    folder.mkdir()
    descriptor = value(call("recall_memories", settings(threshold_tokens=1, output_dir=folder)))
    head, _, _ = descriptor["jq_recipes"][0]["command"].partition(" | ")
    out = subprocess.run(["sh", "-c", f"{head} | wc -l"], capture_output=True, timeout=10, cwd=tmp_path)
    assert int(out.stdout) == 200
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_start_is_quick() -> None:
    def start() -> float:
        began = time.perf_counter()
        converse(command(), [("initialize", {"protocolVersion": "2025-11-25"})], {})
        return time.perf_counter() - began

    def bare() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import json, sqlite3"], check=True)
        return time.perf_counter() - began

    times = [(start(), bare()) for _ in range(8)]
    assert min(mine for mine, _ in times) < 2 * min(theirs for _, theirs in times)


SEEDED = "tests.servers.sound.profiles"
"""Module of servers that return nothing before their profile has seeded them."""


def greeted(variant: Fault | Sound, folder: Path) -> str:
    """What is wrong with a variant's first words; empty when nothing is."""
    profile = yaml.safe_load(profile_text(variant.name, variant.profile))
    recall = next(iter(profile["operations"].values()))
    env = settings(threshold_tokens=getattr(variant.server, "refused_below", 1), output_dir=folder)
    own = profile["server"].get("env", {})
    env |= {name: str(value).replace("{workdir}", str(folder)) for name, value in own.items()}
    argv = [word.replace("{workdir}", str(folder)) for word in profile["server"]["command"]]
    requests: list[Request] = [
        (
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "claude-code", "version": "1"},
            },
        ),
        ("tools/list", {}),
        ("tools/call", {"name": recall["tool"], "arguments": recall.get("arguments", {})}),
    ]
    try:
        hello, tools, answer = converse(argv, requests, env)
    except (AssertionError, ValueError, subprocess.SubprocessError) as problem:
        return f"{variant.name}: {problem}"
    if not (hello["result"]["protocolVersion"] and tools["result"]["tools"]):
        return f"{variant.name}: no handshake"
    if "result" not in answer:
        return f"{variant.name}: {answer}"
    usual = "settings" not in profile and variant.name not in ("takes_its_files_along", "requires_a_detail_level")
    holds = (answer["result"].get("structuredContent") or {}).get("count")
    starts_empty = holds == 0 and {"corpus", "memories"} & vars(variant.server).keys()
    if isinstance(variant, Sound) and usual and not starts_empty:
        return offloaded_well(variant, answer["result"], folder)
    return ""


def offloaded_well(variant: Sound, result: dict[str, Any], folder: Path) -> str:
    files = [path for path in folder.iterdir() if NAME.fullmatch(path.name)]  # beside a register, for instance
    if result.get("isError") or len(files) != 1:
        return f"{variant.name}: {str(result)[:200]} {files}"
    header, *records = lines(str(files[0]))
    return "" if header["count"] == len(records) > 0 else f"{variant.name}: {header} for {len(records)} records"


@pytest.mark.parametrize("family", [FAULTS, SOUND], ids=["faults", "sound"])
def test_every_variant_starts_and_answers_a_recall(
    family: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each fourth of them; all with ``--long``."""

    def one(variant: Fault | Sound) -> str:
        folder = tmp_path / variant.name
        folder.mkdir()
        return greeted(variant, folder)

    with ThreadPoolExecutor(3) as pool:
        servers = [
            v
            for v in family.values()
            if issubclass(v.server, Server)  # no proxies
            and v.server.__module__ != SEEDED
            and "MEMORIES" not in v.profile  # whose store is empty at first
            and "$memory" not in v.profile  # likewise
        ]
        tried = servers if request.config.getoption("--long") else servers[::4]
        problems = [problem for problem in pool.map(one, tried) if problem]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", ["is_set_by_flags", "is_set_by_a_toml_file", "is_set_by_other_variables"])
def test_settings_arrive_by_the_way_of_the_profile(name: str, tmp_path: Path) -> None:
    (tmp_path / "atlatl.toml").write_text(f'[prompt.offload]\nthreshold_tokens = 1\noutput_dir = "{tmp_path}"\n')
    words = ["--threshold=1", f"--out={tmp_path}", f"--config={tmp_path}/atlatl.toml"]
    env = {"LRO_TOKENS": "1", "LRO_DIR": str(tmp_path)}
    request = ("tools/call", {"name": "recall_memories", "arguments": {"limit": 1}})
    [answer] = converse([*command(name), *words], [request], env)
    assert Path(value(answer["result"])["file_path"]).parent == tmp_path


def test_faults_say_what_they_break_and_how() -> None:
    for fault in FAULTS.values():
        assert re.fullmatch(r"LRO-[A-Z]+-\d\d", fault.requirement), fault.name
        assert fault.says, fault.name
        assert fault.about.endswith("."), fault.name
        assert fault.proves in (0, 1, 2, 3), fault.name
        assert fault.requirement not in fault.also, fault.name


def test_no_requirement_has_a_single_way_to_be_broken() -> None:
    ways = Counter(r for fault in FAULTS.values() for r in {fault.requirement, *fault.also})
    assert [requirement for requirement, count in ways.items() if count < 2] == []
