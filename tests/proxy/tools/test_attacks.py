"""Attacks on the tools that read offloaded files (data/attacks.yaml): none reads, writes, runs or exceeds anything."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from lro_proxy.tools.limits import Limits
from lro_proxy.tools.toolbox import FAMILIES, Toolbox
from lro_reference.interceptor import Offloaded, ResultSet, intercept
from lro_reference.memory.demo import demo_memories
from lro_reference.memory.model import SCHEMA_VERSION, line_schema
from lro_reference.settings import Settings
from lro_spec.filenames import ulid_at
from tests.support.paths import DATA

SECRET, CANARY = "s3cret-of-another", "canary-of-the-environment"
LIMITS = Limits(output_characters=20_000, seconds=0.2, memory_mb=256)
MOST_SECONDS = 60
"""Far more than the limits, for a machine that is busy elsewhere."""
GROUPS: list[dict[str, Any]] = yaml.safe_load((DATA / "attacks.yaml").read_text("utf-8"))


@dataclass(frozen=True)
class Ground:
    toolbox: Toolbox
    names: dict[str, str]
    base: Path

    def seen(self) -> dict[str, Any]:
        """All that an attack could have changed."""
        found = {str(path): path.lstat() for path in sorted(self.base.rglob("*"))}
        return {path: (s.st_mode, s.st_ino, s.st_size, s.st_mtime_ns) for path, s in found.items()}


def offloaded(toolbox: Toolbox, folder: Path, records: list[Any]) -> str:
    results = ResultSet("recall", "full", records, line_schema("full"), SCHEMA_VERSION)
    outcome = intercept(results, Settings(threshold_tokens=1, output_dir=str(folder)), lambda event: None)
    assert isinstance(outcome, Offloaded)
    return toolbox.publish(outcome.response).file_path


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRO_TEST_CANARY", CANARY)
        yield dump_with_layout(tmp_path_factory.mktemp("attacks"))


def dump_with_layout(base: Path) -> Ground:
    """A folder with files that were offered, files that were not, and files that have changed since."""
    folder = base / "out"
    toolbox = Toolbox(list(FAMILIES), Settings(output_dir=str(folder)), LIMITS)
    memories = list(demo_memories())[:100]
    good = Path(offloaded(toolbox, folder, memories))
    one = {**memories[0], "title": "t" * 30_000, "content": "c" * 30_000}
    names = {
        "trap": offloaded(toolbox, folder, [{**memories[0], "content": "a" * 60 + "b" + "c" * n} for n in range(9)]),
        "oneline": offloaded(toolbox, folder, [one]),
    }
    changed = ("replaced", "grown", "touched", "linked", "piped", "foldered", "symlinked", "deleted", "expired")
    names |= {name: offloaded(toolbox, folder, memories[:5]) for name in changed}
    ulid = ulid_at(datetime.now(UTC))

    (base / "secret.txt").write_text(SECRET)
    (base / "secret.jsonl").write_text(f'{{}}\n{{"title": "{SECRET}"}}\n')
    evil = base / "out_evil"
    evil.mkdir()
    for name in (good.name, f"atlatl-recall-{ulid}.jsonl"):
        shutil.copy(base / "secret.jsonl", evil / name)
    (base / "outevil").mkdir()
    (base / "link-to-secret-folder").symlink_to(evil)
    for name in ("notes.txt", ".hidden", f"atlatl-recall-{ulid}.jsonl", f".{good.name}.tmp", f"{good.name}.bak"):
        shutil.copy(base / "secret.jsonl", folder / name)
    (folder / f"atlatl-search-{ulid}.jsonl").symlink_to(base / "secret.jsonl")
    (folder / f"atlatl-inject-{ulid}.jsonl").symlink_to(good)
    os.mkfifo(folder / f"lro-pipe-{ulid}.jsonl")
    (folder / f"lro-folder-{ulid}.jsonl").mkdir()

    for name in ("replaced", "piped", "foldered", "symlinked", "deleted"):
        Path(names[name]).unlink()
    Path(names["replaced"]).write_text((base / "secret.jsonl").read_text())
    os.mkfifo(names["piped"])
    Path(names["foldered"]).mkdir()
    Path(names["symlinked"]).symlink_to(good)
    with Path(names["grown"]).open("a") as file:
        file.write(f'{{"title": "{SECRET}"}}\n')
    os.utime(names["touched"])
    os.link(names["linked"], folder / f"lro-tool-{ulid}.jsonl")
    expire(toolbox, names["expired"])
    names |= {"good": str(good), "name": good.name, "folder": str(folder), "base": str(base), "ulid": ulid}
    names |= stored(toolbox, base)
    return Ground(toolbox, names, base)


def stored(toolbox: Toolbox, base: Path) -> dict[str, str]:
    """A conversation whose large results were moved out, one of them written to since; and what lies beside them."""
    messages: list[Any] = [
        {"role": "tool", "tool_call_id": "good", "content": f"short\n{'x' * 30_000}"},
        {"role": "tool", "tool_call_id": "rewritten", "content": "x" * 20_000},
        {"role": "user", "content": "go on"},
    ]
    answer = toolbox.call("context_offload", {"messages": messages, "max_total_tokens": 0})
    good, rewritten = json.loads(answer.texts[0])["metadata"]["write_file_dict"]
    Path(rewritten).write_text(SECRET)
    store = Path(good).parent
    (store / "tool_call_other.txt").write_text(SECRET)
    (store / "tool_call_link.txt").symlink_to(base / "secret.txt")
    return {"stored": good, "rewritten": rewritten, "store": str(store)}


def expire(toolbox: Toolbox, path: str) -> None:
    """Make one file expire."""
    files = toolbox._bench.files
    known = files._files[Path(path).name]
    files._files[known.name] = type(known)(known.name, known.descriptor, known.identity, time.time() - 1)


def filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        value = re.sub(r"\{1\.\.(\d+)\}", lambda match: "x" * int(match[1]), value)
        return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), value)
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {filled(key, names): filled(item, names) for key, item in value.items()}
    return value


def call_of(group: dict[str, Any], value: Any) -> dict[str, Any]:
    arguments = copy.deepcopy(group["arguments"])
    if group["vary"] is None:
        return arguments | value
    *outer, last = group["vary"].split(".")
    place = arguments
    for key in outer:
        place = place.setdefault(key, {})
    place[last] = value
    return arguments


def attacks() -> Iterator[Any]:
    for group in GROUPS:
        for place, value in enumerate(group["values"]):
            marks = [pytest.mark.long] if group.get("slow") and place % 3 else []
            shown = ascii(value)[:50].replace("::", ":")
            yield pytest.param(group, value, id=f"{group['about']} {place} {shown}", marks=marks)


def test_there_are_two_hundred_attacks_and_more() -> None:
    listed = [(group["about"], json.dumps(value)) for group in GROUPS for value in group["values"]]
    assert len(listed) == len(set(listed)) >= 200


@pytest.mark.parametrize(("group", "value"), list(attacks()))
def test_an_attack_gets_nothing(group: dict[str, Any], value: Any, ground: Ground) -> None:
    before, others = ground.seen(), children()
    begun = time.monotonic()
    answer = ground.toolbox.call(group["tool"], filled(call_of(group, value), ground.names))
    assert time.monotonic() - begun < MOST_SECONDS
    (text,) = answer.texts
    if "gives" in group:
        assert (answer.is_error, text) == (False, group["gives"])
    else:
        assert re.search(group.get("refused") or group["answer"], text), text[:500]
        assert answer.is_error or "answer" in group
    assert len(text) <= LIMITS.output_characters
    assert SECRET not in text
    assert CANARY not in text
    assert ground.seen() == before
    assert children() == others


def test_after_all_that_a_call_is_answered(ground: Ground) -> None:
    answer = ground.toolbox.call("lro_extract", {"file_path": ground.names["good"], "recipe": 1, "params": {"n": 1}})
    assert not answer.is_error
    assert "\t" in answer.texts[0]


def children() -> list[int]:
    """The processes that this one has started and not ended."""
    tasks = Path("/proc/self/task")
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
