"""A long file read by two processes: findings are those of one, and the second is gone whatever happens."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from lro_conformance.documents import Document
from lro_spec import second_reader
from lro_spec.file_rules import FileState, judge_file, validate_file
from lro_spec.findings import Finding
from lro_spec.following import Following, follow
from lro_spec.physical_lines import Block
from lro_spec.second_reader import Beside, SecondReader
from lro_spec.seen_ids import SeenIds
from lro_spec.summary_rules import Facts
from tests.test_following import NAME, made, recipe, records

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="one process reads everything elsewhere"),
    # Python 3.12 warns of forks beside threads, which pytest's own plugins may have.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]

_COUNT = 150
FAULTS: list[Callable[[list[bytes], int], object]] = [
    lambda lines, at: lines.__setitem__(at, b"{broken"),
    lambda lines, at: lines.__setitem__(at, b""),
    lambda lines, at: lines.__setitem__(at, b'{"id": "x", "title": NaN}'),
    lambda lines, at: lines.__setitem__(at, lines[at] + b"\r"),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b"note", b"\xff")),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"tags": ["x"]', b'"tags": [7]')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"title": "', b'"title": 3, "t": "')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"score"', b'"score": 1.9, "score"')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"score": 0', b'"score": 9')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"title"', b'"status": "odd", "title"')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b"_procedural/c", b"_semantic/else")),
    lambda lines, at: lines.__setitem__(at, lines[at - 1]),
    lambda lines, at: lines.__setitem__(at, lines[at // 2]),
    lambda lines, at: lines.__setitem__(at, lines[0]),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b"well", b"well" * 3000)),
    lambda lines, at: lines.insert(at, b'{"id": "more", "content": ""}'),
    lambda lines, at: lines.pop(at),
]


class Seen:
    """The second processes of a test."""

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.told = 0
        self.before: Callable[[int], object] = lambda pid: None

    def left(self) -> list[int]:
        return [pid for pid in self.pids if Path(f"/proc/{pid}").exists()]


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Stretches of three kilobytes, and a second process for whoever asks for one."""
    seen = Seen()
    fork, following = os.fork, SecondReader.next

    def forked() -> int:
        pid = fork()
        seen.pids.append(pid)
        return pid

    def told(self: SecondReader) -> Any:
        seen.before(seen.pids[-1])
        sound = following(self)
        seen.told += sound is not None
        return sound

    monkeypatch.setattr(second_reader, "STRETCH_BYTES", 3000)
    monkeypatch.setattr(second_reader, "LEAST_BYTES", 0)
    monkeypatch.setattr(Beside, "is_worth_it", lambda self: True)  # type: ignore[reportUnknownLambdaType]
    monkeypatch.setattr(os, "fork", forked)
    monkeypatch.setattr(SecondReader, "next", told)
    return seen


def descriptor(folder: Path) -> dict[str, Any]:
    """One whose recipes are not run: they take the time here, and have nothing to do with it."""
    found = made(folder, count=_COUNT)
    found["line_schema"]["properties"]["status"] = {"const": "even"}
    del found["jq_recipes"]
    return found


def quiet(path: str, size: int) -> None:
    """Asks for a second process, and does not want to know how far it is."""


def by_one(value: dict[str, Any], edition: str = "lro-6400") -> list[Finding]:
    return list(Following(value, edition=edition).findings())


def by_two(value: dict[str, Any], edition: str = "lro-6400") -> list[Finding]:
    return list(Following(value, edition=edition, passed=quiet).findings())


def test_a_sound_file_is_told_and_its_summary_holds(tmp_path: Path, second: Seen):
    value = made(tmp_path, count=_COUNT)
    passed, opened = [0], os.listdir("/proc/self/fd")
    both = Following(value, passed=lambda path, size: passed.append(size))
    assert list(both.findings()) == []
    assert both.lines == _COUNT + 1
    assert second.told >= 2  # of the stretches after the sample that recipes are run on
    assert sum(passed) == (tmp_path / NAME).stat().st_size
    assert not second.left()
    assert os.listdir("/proc/self/fd") == opened


@pytest.mark.parametrize("seed", range(12))
def test_findings_are_those_of_one_process(tmp_path: Path, second: Seen, seed: int):
    random = Random(seed)
    value = descriptor(tmp_path)
    file = tmp_path / NAME
    lines = file.read_bytes().split(b"\n")
    for _ in range(random.randrange(1, 7)):
        random.choice(FAULTS)(lines, random.randrange(1 if seed % 3 else 100, len(lines) - 1))
    file.write_bytes(b"\n".join(lines))
    edition = random.choice(["lro-6400", "lro-paper"])
    assert by_two(value, edition) == by_one(value, edition)
    document = Document(str(file), "file", "lro-6400", passed=quiet)
    again = Document(str(file), "file", "lro-6400")
    one = list(validate_file(file))
    assert (list(document.findings()), document.lines) == (one, len(lines) - 1 + bool(lines[-1]))
    assert second.told
    pids = len(second.pids)
    assert (list(again.findings()), len(second.pids)) == (one, pids)
    assert not second.left()


class Gathering:
    """Gathers facts, and nothing else."""

    schema: object = None
    ready = True

    def __init__(self) -> None:
        self.facts = Facts(scored=True)

    def take(self, records: list[dict[str, Any]], block: Block, fit: bool) -> Iterator[Finding]:
        self.facts.take(records, block)
        yield from ()

    def join(self, facts: Facts, records: int) -> None:
        self.facts.join(facts)


def test_facts_are_those_of_one_process(tmp_path: Path, second: Seen):
    def change(value: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        for line in lines[12:20]:  # some of them are the second one's
            line.update(namespace="größer", title="漢字\\u0000", score=line["score"] - 9, provenance={"confidence": 9})

    made(tmp_path, change, count=_COUNT)
    facts: list[Facts] = []
    for passed in (None, lambda size: None):  # type: ignore[reportUnknownLambdaType]
        state = FileState("lro-6400", Gathering())
        with (tmp_path / NAME).open("rb", buffering=0) as file:
            assert list(judge_file(file, state, beside=Beside(file.fileno(), passed) if passed else None)) == []
        facts.append(cast("Gathering", state.reader).facts)
    assert facts[0] == facts[1]
    assert second.told > 5


def test_recipes_are_run_on_the_same_sample(tmp_path: Path, second: Seen):
    value = made(tmp_path, recipe(8, "jq -r .title"), count=_COUNT)
    found = by_one(value)
    assert by_two(value) == found
    assert any(finding.pointer.startswith("/jq_recipes/7") for finding in found)


@pytest.mark.parametrize(
    "first", [b"[]", b"{}", b'{"id": "a"}', b'{"type": "lro_header", "detail": 7}', b"\xff", b"\xef\xbb\xbf{}"]
)
def test_a_header_that_is_none_changes_nothing(tmp_path: Path, second: Seen, first: bytes):
    value = descriptor(tmp_path)
    file = tmp_path / NAME
    file.write_bytes(first + b"\n" + file.read_bytes().partition(b"\n")[2])
    assert by_two(value) == by_one(value)
    assert not second.left()


def test_a_line_longer_than_stretches_is_read_whole(tmp_path: Path, second: Seen):
    value = descriptor(tmp_path)
    file = tmp_path / NAME
    lines = file.read_bytes().splitlines(keepends=True)
    lines[70] = lines[70].replace(b"well", b"well " * 5000)
    file.write_bytes(b"".join(lines))
    assert by_two(value) == by_one(value)
    file.write_bytes(b"".join(lines)[:-9])  # and one that is cut off
    assert by_two(value) == by_one(value)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_second_process_that_is_killed_changes_nothing(tmp_path: Path, second: Seen, after: int):
    calls: list[int] = []

    def kill(pid: int) -> None:
        calls.append(pid)
        if len(calls) == after + 1:
            os.kill(pid, signal.SIGKILL)

    value = descriptor(tmp_path)
    value["summary"]["count"] = 7
    found = by_one(value)
    second.before = kill
    assert by_two(value) == found
    assert len(calls) > 3
    assert not second.left()


def test_one_that_fails_changes_nothing(
    tmp_path: Path, second: Seen, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(SecondReader, "_tell", fail)
    value = descriptor(tmp_path)
    assert by_two(value) == by_one(value)
    assert (second.told, second.left()) == (0, [])
    assert capfd.readouterr().err == ""


def test_an_interrupt_leaves_nobody(tmp_path: Path, second: Seen):
    passed: list[int] = []

    def interrupted(path: str, size: int) -> None:
        passed.append(size)
        if len(passed) == 4:
            raise KeyboardInterrupt

    value = descriptor(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        list(Following(value, passed=interrupted).findings())
    assert second.pids
    assert not second.left()


def test_findings_that_nobody_wants_any_more_leave_nobody(tmp_path: Path, second: Seen):
    value = descriptor(tmp_path)
    file = tmp_path / NAME
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:50], b"{}\n", *lines[50:]]))
    found = cast("Any", Following(value, passed=quiet).findings())
    assert next(each for each in found if each.path)
    found.close()
    assert second.pids
    assert not second.left()


def test_without_the_first_process_there_is_no_second(tmp_path: Path):
    (tmp_path / NAME).write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in _long()))
    program = """
        import os, signal, sys
        from lro_spec import second_reader
        from lro_spec.file_rules import FileState, judge_file

        second_reader.STRETCH_BYTES, second_reader._PIPE_BYTES = 3000, 4096  # so that it has to wait
        second_reader.Beside.is_worth_it = lambda self: True
        with open(sys.argv[1], "rb", buffering=0) as file:
            beside = second_reader.Beside(file.fileno(), lambda size: os.kill(os.getpid(), signal.SIGKILL))
            list(judge_file(file, FileState("lro-6400"), beside=beside))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / NAME)]
    # Comes back once nobody holds standard output open any more.
    assert subprocess.run(command, stdout=subprocess.PIPE, timeout=60).returncode == -signal.SIGKILL


def _long() -> Iterator[dict[str, Any]]:
    yield {
        "type": "lro_header",
        "operation": "recall",
        "query": "*",
        "count": 4000,
        "schema_version": "1.0",
        "timestamp": "2026-03-02T09:30:00Z",
        "estimated_tokens": 4000,
        "detail": "full",
    }
    yield from records(4000)


def test_who_did_not_ask_gets_no_second_process(tmp_path: Path, second: Seen):
    value = descriptor(tmp_path)
    list(follow(value))
    list(validate_file(tmp_path / NAME))
    assert second.pids == []


def test_only_what_is_read_as_it_stands_in_a_regular_file_is_read_by_two(tmp_path: Path, second: Seen):
    value = descriptor(tmp_path)
    file = tmp_path / NAME
    packed = tmp_path / f"{NAME}.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(file), str(pipe)]):
        for path in (packed, pipe):
            assert list(Document(str(path), "file", "lro-6400", passed=quiet).findings()) == []
    assert second.pids == []
    file.unlink()
    assert {finding.message for finding in Following(value, folder=tmp_path, passed=print).findings()} >= {
        "file_path leads nowhere from here"
    }
    assert second.pids == []


def test_it_takes_a_long_file_a_second_core_and_no_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cores, threads = {0, 1}, 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: cores)  # type: ignore[reportUnknownLambdaType]
    monkeypatch.setattr("threading.active_count", lambda: threads)
    with (tmp_path / "file").open("w+b") as file:
        beside = Beside(file.fileno(), print)
        file.truncate(second_reader.LEAST_BYTES - 1)
        assert not beside.is_worth_it()
        file.truncate(second_reader.LEAST_BYTES)
        assert beside.is_worth_it()
        threads = 2
        assert not beside.is_worth_it()
        cores, threads = {0}, 1
        assert not beside.is_worth_it()


def test_ids_that_are_told_are_kept_apart_like_those_that_are_read():
    seen = SeenIds(limit=50, few=10)
    hashes = [hash(f"id{n}") for n in range(100)]
    assert seen.add_hashes(hashes[:4], 1)
    assert not seen.add_hashes([hashes[5], hashes[5]], 5)
    assert not seen.add_hashes([hashes[5], hashes[3]], 5)
    assert seen.add_hashes(hashes[5:30], 5)  # packed now
    assert not seen.add("id7", 40)
    assert not seen.add_hashes([hashes[40], hashes[20]], 40)
    assert seen.add_hashes(hashes[40:], 40)  # ten of them spilled
    assert seen.add_hashes(hashes[95:], 100)
    assert sorted(seen.late()) == [100, 101, 102, 103, 104]
