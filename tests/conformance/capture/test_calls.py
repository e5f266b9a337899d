"""Calls and the files that they name, as they are seen: what is read, when it was written, what is shown of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.capture import file as capture_file
from lro_conformance.capture import reproduce, warnings
from lro_conformance.capture.call import MAX_ESTIMATE, CallInContext, ComparedCall
from lro_conformance.capture.file import FileSeen, see_file, written_since
from lro_conformance.judging.subjects import Mark, MarkedSubject, evidence_of, hindrance_of, place_of, reproducer_of
from tests.support.made_evidence import answered as call
from tests.support.private import inner


class TestAFile:
    def test_is_read_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"{}\n")
        path.chmod(0o640)
        os.utime(path, (1000, 1000))
        assert see_file(str(path), (tmp_path,)) == FileSeen(str(path), None, b"{}\n", 0o640, 1000.0, str(path))

    def test_outside_of_every_folder_is_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"{}")
        seen = see_file(str(tmp_path / "a"), (tmp_path / "b",))
        assert (seen.data, seen.problem) == (
            b"",
            "outside every directory that the server was given, so it was not read",
        )

    def test_that_is_not_there_says_so(self, tmp_path: Path) -> None:
        seen = see_file(str(tmp_path / "a"), (tmp_path,))
        assert (seen.data, seen.problem) == (b"", "cannot be opened: No such file or directory")

    def test_is_no_folder_and_no_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        writer = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
        (tmp_path / "folder").mkdir()
        for name in ("folder", "pipe"):
            assert see_file(str(tmp_path / name), (tmp_path,)).problem == "is not a regular file"
        os.close(writer)

    def test_is_opened_without_waiting_and_not_by_a_link(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[int] = []
        plain = os.open

        def opened(path: Path, flags: int) -> int:
            asked.append(flags)
            return plain(path, flags)

        monkeypatch.setattr(os, "open", opened)
        monkeypatch.setattr(capture_file, "real_path", str)  # the link has come since
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").write_bytes(b"{}")
        problem = see_file(str(tmp_path / "a"), (tmp_path,)).problem
        assert problem is not None
        assert problem.startswith("cannot be opened: ")
        assert asked == [os.O_NONBLOCK | os.O_NOFOLLOW]

    def test_of_some_megabytes_is_read_and_a_larger_one_is_not(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        for size, problem in (
            (2 << 20, None),
            ((64 << 20) + 1, "has 67108865 bytes; files of more than 67108864 bytes are not read"),
        ):
            with path.open("wb") as stream:
                stream.truncate(size)
            seen = see_file(str(path), (tmp_path,))
            assert (seen.problem, len(seen.data)) == (problem, 0 if problem else size)

    @pytest.mark.parametrize(("size", "read"), [(3, 3), (4, 4), (5, 0)])
    def test_as_large_as_may_be_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, read: int
    ) -> None:
        monkeypatch.setattr(capture_file, "MAX_FILE_BYTES", 4)
        (tmp_path / "a").write_bytes(b"x" * size)
        assert len(see_file(str(tmp_path / "a"), (tmp_path,)).data) == read

    @pytest.mark.parametrize(("moment", "since"), [(500.0, True), (1002.0, True), (1003.0, False)])
    def test_may_be_a_little_older_than_the_call(self, tmp_path: Path, moment: float, since: bool) -> None:
        (tmp_path / "a").write_bytes(b"")
        os.utime(tmp_path / "a", (1000, 1000))
        assert written_since(str(tmp_path / "a"), moment) is since

    @pytest.mark.parametrize("line", [b"[" * 600 + b"]" * 600, b'{"a":[' * 300 + b"]}" * 300])
    def test_holds_no_line_that_is_nested_too_deep(self, line: bytes) -> None:
        (seen,) = FileSeen("", data=line).lines
        assert (seen.value, "deep" in (seen.problem or "")) == (None, True)


@pytest.mark.parametrize(("number", "known"), [(MAX_ESTIMATE, True), (MAX_ESTIMATE + 1, False)])
def test_an_estimate_is_one_that_a_double_holds(number: int, known: bool) -> None:
    assert MAX_ESTIMATE == 9_007_199_254_740_992
    data = b'{"type": "lro_header", "estimated_tokens": %d}\n' % number
    assert call({}, FileSeen("/a", data=data)).estimate == (number if known else None)


def test_the_weight_of_a_call_is_that_of_its_answer_and_of_its_file() -> None:
    assert call({}, FileSeen("/a", data=b"x"), raw=b"y").weight == 5
    assert call({}, FileSeen("/a", data=b"x\n"), raw=b"y").weight == 407
    assert call({}, FileSeen("/a", data=b""), raw=b'{"a":{}}').weight == 624


def test_a_failed_write_hinders_what_a_call_shows_in_any_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "write_failure", lambda one: "the disk is full")
    one = call({})
    for at in (one, CallInContext(one), CallInContext(one, "a recipe"), ComparedCall(one, one, "with LRO off")):
        assert "the disk is full" in (hindrance_of(at) or "")


def test_a_subject_in_context_is_shown_as_it_is_alone() -> None:
    among = CallInContext(call({}), MarkedSubject("line 2", Mark(("^",)), "the header"))
    assert (evidence_of(among), place_of(among)) == ("line 2\n^", "the header")


def test_a_call_is_made_once_more_alone_or_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "of_call", lambda one: "alone")
    monkeypatch.setattr(reproduce, "of_call_in_context", lambda one: "among")
    one = call({})
    assert [reproducer_of(one), reproducer_of(CallInContext(one))] == ["alone", "among"]
    assert reproducer_of(ComparedCall(one, one, "with LRO off")) == "alone\necho; echo 'with LRO off:'\nalone"


def test_an_answer_is_shown_up_to_two_thousand_bytes() -> None:
    shown: Any = inner(reproduce, "_answer")
    assert shown(call({}, raw=b"x" * 2000).reply) == "x" * 2000
    assert shown(call({}, raw=b"x" * 2001).reply) == "x" * 2000 + " … (2001 bytes)"


HEADER = b'{"type":"lro_header","estimated_tokens":12}\n'
RECORD = b'{"id":"a","content":"text"}\n'


@pytest.mark.parametrize(
    ("data", "records", "characters", "problems"),
    [
        (b"", 0, 0, []),
        (b"\n", 0, 0, [1]),
        (HEADER + RECORD, 1, 27, []),
        (RECORD + HEADER, 1, 27, []),
        (HEADER + HEADER + RECORD, 1, 27, []),
        (RECORD + b"\n" + RECORD, 2, 54, [2]),
        (HEADER + b"3\n[1]\n", 0, 0, []),
        (HEADER + b'not json\n{"id":"c","x":NaN}\n{"id":"d","id":"e"}\n\xff\n  \n', 2, 37, [2, 3, 5, 6]),
        (HEADER + b"[" * 500 + b"]" * 500 + b"\n", 0, 0, []),
        (HEADER + b"[" * 9999 + b"\n", 0, 0, [2]),
        (b"\xef\xbb\xbf" + HEADER, 0, 0, [1]),
    ],
)
def test_a_file_is_read_line_by_line(data: bytes, records: int, characters: int, problems: list[int]) -> None:
    seen = FileSeen("/out/x.jsonl", data=data)
    assert (len(seen.records), seen.characters) == (records, characters)
    assert [line.number for line in seen.lines if line.problem is not None] == problems
