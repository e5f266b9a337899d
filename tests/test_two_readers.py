"""What two processes tell each other of a long file, looked at within one (`test_second_reader.py` has two)."""

from __future__ import annotations

import json
import os
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, cast

import pytest

from lro_spec import file_rules, second_reader
from lro_spec.file_rules import FileState, judge_file
from lro_spec.physical_lines import Block
from lro_spec.second_reader import Beside, Range, SecondReader, Sound, Stretch, stretches
from lro_spec.summary_rules import Facts
from tests.words.files import head, told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="one process reads everything elsewhere")

ROW = b"0123456789\n"
MINE, OTHERS = False, True
END = True
"""Marks the last stretch."""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[IO[bytes]]:
    with (tmp_path / "file").open("w+b", buffering=0) as stream:
        yield stream


class TestStretches:
    @pytest.mark.parametrize(
        ("data", "least", "expected"),
        [
            (b"", 20, [(0, 0, MINE, END)]),
            (ROW, 20, [(0, 11, MINE, END)]),
            (ROW * 4, 20, [(0, 22, MINE, False), (22, 22, MINE, END)]),
            (ROW * 4, 22, [(0, 22, MINE, False), (22, 22, MINE, END)]),
            (ROW * 4, 23, [(0, 33, MINE, False), (33, 11, MINE, END)]),
            (ROW * 4 + b"end", 22, [(0, 22, MINE, False), (22, 22, OTHERS, False), (44, 3, MINE, END)]),
            (b"\n" * 5, 2, [(0, 2, MINE, False), (2, 2, OTHERS, False), (4, 1, MINE, END)]),
            (b"x" * 50 + b"\n" + ROW, 5, [(0, 51, MINE, False), (51, 11, MINE, END)]),
            (b"x" * 50, 5, [(0, 50, MINE, END)]),
        ],
    )
    @pytest.mark.parametrize("look", [1, 3, 100])
    def test_are_whole_lines(
        self, file: IO[bytes], monkeypatch: pytest.MonkeyPatch, data: bytes, least: int, expected: Any, look: int
    ) -> None:
        monkeypatch.setattr(second_reader, "STRETCH_BYTES", least)
        monkeypatch.setattr(second_reader, "_LOOK_BYTES", look)
        file.write(data)
        found = list(islice(stretches(file.fileno()), 9))
        assert found == expected
        assert [Range(file.fileno(), each).read(100) for each in found] == [data[a : a + n] for a, n, *_ in expected]

    def test_are_the_second_process_s_more_often_than_the_first_one_s(
        self, file: IO[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(second_reader, "STRETCH_BYTES", len(ROW))
        file.write(ROW * 24)
        found = list(islice(stretches(file.fileno()), 30))
        assert "".join("12"[each.second] for each in found) == "12121212122" + "12121212122" + "11"
        assert [each.last for each in found] == [False] * 23 + [True]

    def test_are_read_to_their_end_and_the_last_to_that_of_the_file(self, file: IO[bytes]) -> None:
        file.write(ROW * 3)
        middle = Range(file.fileno(), Stretch(11, 11, OTHERS, last=False))
        assert [middle.read(4), middle.read(4), middle.read(4), middle.read(4)] == [b"0123", b"4567", b"89\n", b""]
        last = Range(file.fileno(), Stretch(22, 5, MINE, last=True))  # it has grown since it was looked at
        assert [last.read(8), last.read(8), last.read(8)] == [ROW[:8], ROW[8:], b""]


def text_of(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


class Gathering:
    """A reader of records that tells what it was given, and needs nothing but facts after a first call."""

    def __init__(self, schema: object = None, *, scored: bool = True) -> None:
        self.schema = schema
        self.facts = Facts(scored=scored)
        self.ready = False
        self.given: list[int] = []
        """How many records it took, and below zero how many it was told of."""

    def take(self, records: list[dict[str, Any]], block: Block, fit: bool) -> Iterator[Any]:
        self.facts.take(records, block)
        self.given.append(len(records))
        self.ready = True
        yield from ()

    def join(self, facts: Facts, records: int) -> None:
        self.facts.join(facts)
        self.given.append(-records)


class Judged:
    """A file as one process judges it, and as two would."""

    def __init__(self, file: IO[bytes], lines: Iterable[Any], reader: Callable[[], Any], limit: int) -> None:
        file.write(b"".join(text_of(line) + b"\n" for line in lines))
        self._fd, self._limit, self._reader = file.fileno(), limit, reader
        self.passed: list[int] = []
        file.seek(0)
        self.alone, self.found_alone = self._judge(file, None)
        beside = Beside(self._fd, self.passed.append)
        ahead = cast("Any", vars(file_rules)["_told"](FileState("lro-6400", reader()), limit, self._fd))
        self.told: list[Sound | None] = list(ahead)
        file.seek(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Beside, "is_worth_it", lambda _: True)
            patch.setattr(file_rules, "SecondReader", self._second)
            self.both, self.found = self._judge(file, beside)

    def _judge(self, file: IO[bytes], beside: Beside | None) -> tuple[FileState, list[str]]:
        state = FileState("lro-6400", self._reader())
        found = list(map(told, judge_file(cast("Any", file), state, None, self._limit, beside)))
        return state, found

    def _second(self, _: object) -> Any:
        left = iter(self.told)
        return closing(cast("Any", SimpleNamespace(next=lambda: next(left, None), close=lambda: None)))

    def same(self) -> bool:
        """Whether nothing differs; what a file is told about itself in the end depends on all of these."""
        one, two = ([s.lines, s.records, s.ids.count, s.missing, s.objects] for s in (self.alone, self.both))
        facts = [s.reader and s.reader.facts for s in (self.alone, self.both)]
        return self.found == self.found_alone and one == two and facts[0] == facts[1]


Judge = Callable[..., Judged]


@pytest.fixture
def judge(file: IO[bytes], monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Judges files whose stretches are three lines long."""

    def made(
        *lines: Any, reader: Callable[[], Any] = lambda: None, limit: int = 1 << 20, least: int = 2 * WIDTH + 1
    ) -> Judged:
        monkeypatch.setattr(second_reader, "STRETCH_BYTES", least)
        return Judged(file, lines, reader, limit)

    return made


def record(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number:03}", "title": "x" * 30, **more}


WIDTH = len(text_of(record(0))) + 1
TOP = head(count=30).ljust(2 * WIDTH + 1)
"""As long as a stretch has to be, so that the header is one."""


class TestWhatIsTold:
    def test_is_all_that_is_read_of_sound_stretches(self, judge: Judge) -> None:
        judged = judge(TOP, *map(record, range(30)))
        assert [each and len(each.ids) for each in judged.told] == [3] * 5
        assert judged.told[0] == Sound(array("q", [hash(f"m{n:03}") for n in range(3)]), Facts())
        assert (judged.found, judged.both.lines, judged.both.records) == ([], 31, 30)
        assert judged.same()
        assert sum(judged.passed) == len(TOP) + 1 + 30 * WIDTH
        assert len(judged.passed) == 11

    @pytest.mark.parametrize("at", range(2, 20))
    def test_leaves_each_fault_on_its_line(self, judge: Judge, at: int) -> None:
        lines: list[Any] = [TOP, *map(record, range(30))]
        lines[at] = {"id": ""}
        judged = judge(*lines)
        assert [found.partition(":")[0] for found in judged.found] == [str(at + 1)]
        assert judged.same()
        assert judged.told.count(None) == ((at - 1) // 3 % 2 == 0)

    def test_is_told_by_the_header_of_the_first_line(self, judge: Judge) -> None:
        lines: list[Any] = [TOP, *map(record, range(30))]
        lines[4] = head(count=30, detail="medium")  # begins a stretch of the first process
        lines[6] = record(5, content="x")
        judged = judge(*lines)
        assert [found.partition(":")[0] for found in judged.found] == ["5", "7", "1"]
        assert judged.same()

    @pytest.mark.parametrize(("first", "again"), [(1, 2), (1, 7), (2, 8), (3, 12), (4, 16), (5, 13), (8, 3), (14, 20)])
    def test_leaves_an_id_that_is_there_twice_on_its_line(self, judge: Judge, first: int, again: int) -> None:
        lines: list[Any] = [TOP, *map(record, range(30))]
        lines[again] = lines[first]
        judged = judge(*lines)
        (found,) = judged.found
        assert found.startswith(f"{max(first, again) + 1}:8: LRO-FILE-09")
        assert f'got "m{first - 1:03}", as in line {min(first, again) + 1} @' in found
        assert judged.same()

    def test_goes_to_who_reads_along_once_that_is_enough(self, judge: Judge) -> None:
        judged = judge(TOP, *map(record, range(30)), reader=Gathering)
        reader = cast("Any", judged.both.reader)
        assert reader.given == [3, 3] + [-3, 3] * 4
        assert judged.same()

    @pytest.mark.parametrize("scored", [True, False])
    def test_has_the_facts_of_its_records(self, judge: Judge, scored: bool) -> None:
        lines = [record(n, score=n % 7, provenance={"confidence": n % 5}, namespace=f"n{n % 3}") for n in range(30)]
        judged = judge(TOP, *lines, reader=lambda: Gathering(scored=scored))
        assert [each and each.facts.scored for each in judged.told] == [scored] * len(judged.told)
        assert judged.same()

    @pytest.mark.parametrize("rich", [None, 2, 5, 9])
    def test_does_not_do_as_long_as_fields_of_full_detail_are_missing(self, judge: Judge, rich: int | None) -> None:
        core = dict.fromkeys(("memory_type", "content", "created", "namespace", "title"), "x")
        lines = [record(n, **(core if n == rich else {})) for n in range(30)]
        judged = judge(head(count=30, detail="full").ljust(2 * WIDTH + 1), *lines)
        assert bool(judged.found) is (rich is None)
        assert all(judged.told[:1])
        assert judged.same()


class TestNothingIsTold:
    @pytest.mark.parametrize(
        "first",
        [
            {"id": "a"},
            {"type": "lro_header", "schema_version": "0", "extra": {}},
            b"\xff",
            b"3",
        ],
    )
    def test_where_records_are_no_memories_or_nobody_knows(self, judge: Judge, first: Any) -> None:
        judged = judge(text_of(first).ljust(2 * WIDTH + 1), *map(record, range(30)))
        assert judged.told == []
        assert judged.same()

    def test_where_the_header_is_too_long(self, judge: Judge) -> None:
        judged = judge(TOP, *map(record, range(30)), limit=2 * WIDTH)
        assert judged.told == []
        assert judged.same()

    @pytest.mark.parametrize(
        ("schema", "tells"),
        [
            (None, [3] * 5),
            ({"required": ["title"]}, [3] * 5),
            ({"properties": {"id": {"not": {"const": "m007"}}}}, [3, None, 3, 3, 3]),
            ({"$id": "urn:x", "required": ["title"]}, []),
        ],
    )
    def test_of_what_the_schema_of_the_reader_does_not_let_through(
        self, judge: Judge, schema: object, tells: list[int | None]
    ) -> None:
        judged = judge(TOP, *map(record, range(30)), reader=lambda: Gathering(schema))
        assert [each and len(each.ids) for each in judged.told] == tells
        assert judged.same()

    def test_of_stretches_with_a_line_that_is_too_long(self, judge: Judge) -> None:
        lines = [record(n, title="x" * (300 if n == 7 else 30)) for n in range(30)]
        judged = judge(TOP, *lines, limit=300)
        assert [each and len(each.ids) for each in judged.told[:3]] == [3, None, 3]
        assert judged.same()


def test_only_a_regular_file_that_is_read_as_it_is_gets_a_second_process(file: IO[bytes]) -> None:
    stream, other = cast("Any", object()), cast("Any", object())
    assert Beside.of(file, stream, stream, print) == Beside(file.fileno(), print)
    assert Beside.of(file, stream, other, print) is None
    read, write = os.pipe()
    with open(read, "rb") as pipe, open(write, "wb"):
        assert Beside.of(pipe, stream, stream, print) is None


def test_a_second_process_takes_a_long_file_a_second_core_and_no_threads(
    file: IO[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    cores, threads = {0, 1}, 1

    def mine(pid: int) -> set[int]:
        assert pid == 0
        return cores

    monkeypatch.setattr(os, "sched_getaffinity", mine)
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    beside = Beside(file.fileno(), print)
    for size, worth in ((-1, False), (0, True), (1, True)):
        file.truncate(second_reader.LEAST_BYTES + size)
        assert beside.is_worth_it() is worth
    threads = 2
    assert not beside.is_worth_it()
    cores, threads = {0}, 1
    assert not beside.is_worth_it()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
class TestSecondProcess:
    SAID = (Sound(array("q", range(9)), Facts()), None, Sound(array("q"), Facts(characters=7)), None)

    def test_tells_one_thing_after_the_other(self) -> None:
        before = os.listdir("/proc/self/fd")
        with SecondReader(lambda: iter(self.SAID)) as second:
            pid = vars(second)["_pid"]
            assert tuple(second.next() for _ in range(6)) == (*self.SAID, None, None)
        assert not Path(f"/proc/{pid}").exists()
        assert os.listdir("/proc/self/fd") == before

    def test_is_gone_when_nobody_listens(self) -> None:
        with SecondReader(lambda: iter(self.SAID * 100_000)) as second:
            pid = vars(second)["_pid"]
            assert second.next() == self.SAID[0]
        assert not Path(f"/proc/{pid}").exists()

    def test_writes_what_the_first_reads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The second one's side, played here."""
        read, into = os.pipe()
        closed: list[int] = []
        monkeypatch.setattr(os, "pipe", lambda: (read, into))
        monkeypatch.setattr(os, "fork", lambda: 0)
        monkeypatch.setattr(os, "close", closed.append)
        monkeypatch.setattr(os, "_exit", sys.exit)
        second = SecondReader(lambda: iter(self.SAID))
        with pytest.raises(SystemExit):
            second.__enter__()
        monkeypatch.undo()
        os.close(into)
        assert tuple(second.next() for _ in range(5)) == (*self.SAID, None)
        os.close(read)
        assert closed == [read]  # or nobody would be told that the first process is gone
