"""Attacks on everything that reads documents of somebody else (tests/data/attacks_on_documents.yaml)."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from lro_conformance.engine.run import certify
from lro_conformance.evidence.format import MANIFEST
from lro_conformance.profile import profile_for_command
from tests.servers.variants import command
from tests.support.action import Step
from tests.support.paths import DATA, ROOT

ALL: list[dict[str, Any]] = yaml.safe_load((DATA / "attacks_on_documents.yaml").read_text("utf-8"))


def params(kind: str) -> list[Any]:
    """The attacks of a kind. Those that are ``long`` are like another, and take a second or several of one core."""
    return [pytest.param(a, id=a["about"], marks=pytest.mark.long if "long" in a else ()) for a in ALL if kind in a]


SECRET = "hunter2hunter2"
SECONDS, MEBIBYTES = 10, 300
CHUNK = 1 << 20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc and measures memory")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Gives evidence, which is made for the first attack that changes some."""

    @cache
    def made() -> Path:
        folder = tmp_path_factory.mktemp("kept") / "evidence"
        certify(profile_for_command(command()), seed=1, examples=0, only={"LRO-FILE-01"}, evidence=folder)
        return folder

    return made


def chunks(made: Mapping[str, Any]) -> Iterator[bytes]:
    yield made.get("before", "").encode()
    unit, times = made.get("repeat", ["", 0])
    many = max(1, CHUNK // max(1, len(unit)))
    for _ in range(times // many):
        yield unit.encode() * many
    yield unit.encode() * (times % many)
    yield made.get("after", "").encode()


def make(path: Path, made: Any, kept: Callable[[], Path], fill: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(made, str):
        path.write_text(made, encoding="utf-8")
    elif "evidence" in made:
        copy(kept(), path)
        member = path / made["evidence"]
        member.unlink()
        make(member, {k: v for k, v in made.items() if k != "evidence"}, kept, fill)
        if member.is_file() and not member.is_symlink():
            manifest = json.loads((path / MANIFEST).read_bytes())
            manifest["checksums"][made["evidence"]] = hashlib.sha256(member.read_bytes()).hexdigest()
            (path / MANIFEST).write_text(json.dumps(manifest))
    elif "fifo" in made:
        os.mkfifo(path)
    elif "link" in made:
        path.symlink_to(fill(made["link"]))
    elif "descriptor" in made:
        value = descriptor()
        value |= {"file_path": fill(made["descriptor"])}
        value |= json.loads(fill(json.dumps({k: v for k, v in made.items() if k != "descriptor"})))
        path.write_text(json.dumps(value), encoding="utf-8")
    elif "report" in made:
        value = json.loads((DATA / "reports" / "reference.json").read_bytes())
        value["server"]["name"] = fill(made["server.name"])
        path.write_text(json.dumps(value), encoding="utf-8")
    else:
        with gzip.open(path, "wb", 1) if made.get("gzip") else open(path, "wb") as file:
            for chunk in chunks(made):
                file.write(chunk)


def descriptor() -> dict[str, Any]:
    from lro_spec.schema.bundled import json_schema

    return dict(json_schema("descriptor")["examples"][0])


def copy(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file():
            to = target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())


def _peak_kib(pid: int) -> int:
    """Largest memory of a process so far, in KiB; 0 until it executes the suite, and once it has ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) if found is not None and b"lro_conformance" in words else 0


@contextmanager
def standard_input(made: Mapping[str, Any]) -> Iterator[int]:
    """A descriptor to read from: nothing, a device, or a pipe that is fed as *made* says until its reader is gone."""
    if "device" in made or not made:
        descriptor = os.open(made.get("device", os.devnull), os.O_RDONLY)
        yield descriptor
        os.close(descriptor)
        return
    reader, writer = os.pipe()
    over = threading.Event()

    def feed() -> None:
        text = made.get("endless", made.get("slow", "")).encode()
        part = text * (65536 // len(text)) if "endless" in made else b""
        with suppress(BrokenPipeError):
            for number in count():
                if over.is_set():
                    return
                if part:
                    os.write(writer, part)
                else:
                    os.write(writer, text[number % len(text) :][:1])
                    over.wait(0.2)

    feeder = threading.Thread(target=feed, daemon=True)
    if "silent" not in made:
        feeder.start()
    try:
        yield reader
    finally:
        over.set()
        os.close(reader)
        if feeder.ident is not None:
            feeder.join(5)
        os.close(writer)


@pytest.mark.parametrize("attack", params("run"))
def test_an_attack_ends_in_one_clear_line(attack: dict[str, Any], tmp_path: Path, kept: Callable[[], Path]) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(f"password = {SECRET}\n" * 3)
    here = tmp_path / "here"
    here.mkdir()

    def fill(text: str) -> str:
        long = "x" * 1_000_000
        return text.replace("{secret}", str(secret)).replace("{here}", str(here)).replace("{long}", long)

    for name, made in attack["files"].items():
        make(here / name, made, kept, fill)
    argv = [sys.executable, "-P", "-m", "lro_conformance", *map(fill, attack["run"])]
    environment = {**os.environ, "AWS_SECRET_ACCESS_KEY": SECRET, "PYTHONPATH": f"{ROOT}:{ROOT}/conformance"}
    output = tmp_path / "output"
    begun = time.monotonic()
    with open(output, "wb") as out, standard_input(attack.get("stdin", {})) as given:
        actions = [(os.POSIX_SPAWN_DUP2, given, 0)]
        actions += [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, out.fileno(), 2)]
        before = os.getcwd()
        os.chdir(here)
        try:
            pid = os.posix_spawn(sys.executable, argv, environment, file_actions=actions)
        finally:
            os.chdir(before)
        peak, patience = 0, 3 if os.getloadavg()[0] > 2 * (os.cpu_count() or 1) else 1  # on a machine that is busy
        while True:
            # Not ru_maxrss, which is at least the size of these tests, whose memory the child shares for a moment.
            peak = max(peak, _peak_kib(pid))
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                break
            if time.monotonic() - begun > SECONDS * patience:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
                pytest.fail(f"not ended after {SECONDS * patience} s: {output.read_text()[:500]}")
            time.sleep(0.02)
    said = output.read_text(encoding="utf-8", errors="replace")
    assert os.waitstatus_to_exitcode(status) == attack["code"], said[:2000]
    assert peak / 1024 < MEBIBYTES
    assert re.search(attack["says"], said), said[:2000]
    assert SECRET not in said
    assert "defect of lro-spec" not in said
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert not re.search("^::", said, re.MULTILINE) or "github" in attack["run"]
    assert len(said) < 20_000


@pytest.mark.parametrize("attack", params("action"))
def test_an_attack_on_the_action_runs_nothing_and_never_another_server(attack: dict[str, Any], tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(f"password = {SECRET}\n")
    here = tmp_path / "here"
    here.mkdir()
    for name, text in attack["files"].items():
        (here / name).write_text(text)
    inputs = {key: value.replace("{secret}", str(secret)) for key, value in attack["action"].items()}
    begun = time.monotonic()
    step = Step(here, **inputs)
    said = step.done.stdout + step.done.stderr
    assert time.monotonic() - begun < 3 * SECONDS, "three processes"
    assert (step.done.returncode, step.outputs["exit-code"]) == (0, str(attack["code"])), said
    assert re.search(attack["says"], said), said
    assert step.outputs.get("achieved", "0") == "0"
    assert not list(tmp_path.rglob("pwned*"))
    assert not Path("/tmp/pwned").exists()
    for word in (SECRET, "Traceback", "defect of lro-spec", "\n::error::owned"):
        assert word not in said


def test_there_are_fifty_of_all_kinds() -> None:
    kinds = {"action" if "action" in a else a["run"][0] for a in ALL}
    assert len(ALL) >= 50
    assert kinds == {"validate", "certify", "judge", "compare", "init", "action"}
