"""The custodian: what has expired goes, everything else stays."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lro_reference.custodian import STALE_AFTER_S, clean
from lro_reference.events import Event
from lro_reference.writer import temporary_name
from lro_spec.filenames import file_name, ulid_at

TTL = 3600
NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def run(folder: Path, ttl: int = TTL, now: datetime = NOW) -> tuple[list[str], list[Event]]:
    events: list[Event] = []
    result = clean(str(folder), ttl, events.append, now=now.timestamp())
    return result.deleted, events


def make(folder: Path, age_s: float, operation: str = "recall") -> Path:
    path = folder / file_name(operation, ulid=ulid_at(NOW - timedelta(seconds=age_s)))
    path.write_text("{}\n")
    return path


def age(path: Path, age_s: float) -> Path:
    then = NOW.timestamp() - age_s
    os.utime(path, (then, then), follow_symlinks=False)
    return path


def test_expired_file_goes_and_an_event_tells(tmp_path: Path) -> None:
    path = make(tmp_path, TTL + 5)
    deleted, events = run(tmp_path)
    assert deleted == [str(path)]
    assert not path.exists()
    assert [event.name for event in events] == ["OffloadFileExpired"]
    assert events[0].details == {
        "path": str(path),
        "created_at": "2026-05-01T10:59:55.000Z",
        "ttl_seconds": TTL,
        "age_seconds": 3605.0,
    }


def test_file_expires_exactly_when_its_time_has_elapsed(tmp_path: Path) -> None:
    at_the_edge, just_before = make(tmp_path, TTL), make(tmp_path, TTL - 0.001)
    run(tmp_path)
    assert not at_the_edge.exists()
    assert just_before.exists()


def test_age_is_that_of_the_name_not_of_a_later_touch(tmp_path: Path) -> None:
    expired_but_touched, fresh_but_backdated = age(make(tmp_path, TTL + 1), 0), age(make(tmp_path, 1), 10 * TTL)
    run(tmp_path)
    assert not expired_but_touched.exists()
    assert fresh_but_backdated.exists()


def test_name_without_a_ulid_goes_by_modification_time(tmp_path: Path) -> None:
    old, new = tmp_path / "atlatl-old.jsonl", tmp_path / "atlatl-new.jsonl"
    for path, seconds in ((old, TTL + 1), (new, TTL - 1)):
        path.touch()
        age(path, seconds)
    run(tmp_path)
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    "name",
    [
        "notes.jsonl",
        "atlatl.jsonl",
        "atlatl-x.json",
        "atlatl-x.jsonl.bak",
        "xatlatl-x.jsonl",
        ".atlatl-x.jsonl",
        "Atlatl-x.jsonl",
        ".atlatl-x.jsonl.tmp",
        "lro-recall-01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl",
    ],
)
def test_other_names_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    age(tmp_path / name, 1000 * TTL)
    assert run(tmp_path)[0] == []
    assert (tmp_path / name).exists()


def test_links_folders_and_what_is_below_stay(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    target = make(elsewhere, 10 * TTL)
    link = folder / file_name("search", ulid=ulid_at(NOW - timedelta(hours=9)))
    link.symlink_to(target)
    named_like_one = folder / file_name("recall", ulid=ulid_at(NOW - timedelta(hours=9)))
    named_like_one.mkdir()
    below = make(named_like_one, 10 * TTL)
    os.mkfifo(folder / "atlatl-pipe.jsonl")
    age(folder / "atlatl-pipe.jsonl", 10 * TTL)
    assert run(folder)[0] == []
    assert target.exists()
    assert link.is_symlink()
    assert below.exists()
    assert (folder / "atlatl-pipe.jsonl").exists()


def test_leftovers_of_a_dead_writer_go_and_running_ones_stay(tmp_path: Path) -> None:
    name, other = file_name("recall"), file_name("search")
    dead, running = tmp_path / temporary_name(name), tmp_path / temporary_name(other)
    for path, seconds in ((dead, STALE_AFTER_S), (running, STALE_AFTER_S - 1)):
        path.touch()
        age(path, seconds)
    deleted, events = run(tmp_path)
    assert (deleted, events) == ([], [])
    assert not dead.exists()
    assert running.exists()


def test_file_that_vanishes_meanwhile_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sorted((make(tmp_path, 2 * TTL), make(tmp_path, 2 * TTL)))
    real = os.unlink

    def quicker(path: str, *, dir_fd: int | None = None) -> None:
        if path == first.name and first.exists():
            real(first)
        real(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", quicker)
    result = clean(str(tmp_path), TTL, lambda _: None, now=NOW.timestamp())
    assert result.deleted == [str(second)]
    assert result.failed == {}


def test_file_that_cannot_be_deleted_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path, 2 * TTL)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", refuse)
    result = clean(str(tmp_path), TTL, lambda _: None, now=NOW.timestamp())
    assert (result.deleted, result.failed) == ([], {str(path): "Permission denied"})


def test_folder_that_is_missing_or_none_is_no_error(tmp_path: Path) -> None:
    assert clean(str(tmp_path / "none"), TTL, lambda _: None).failed == {}
    (tmp_path / "file").touch()
    assert clean(str(tmp_path / "file"), TTL, lambda _: None).failed == {str(tmp_path / "file"): "Not a directory"}


def test_now_is_the_clock_when_left_out(tmp_path: Path) -> None:
    path = tmp_path / file_name("recall", ulid=ulid_at(datetime.fromtimestamp(time.time() - 100, UTC)))
    path.touch()
    assert clean(str(tmp_path), 10_000, lambda _: None).deleted == []
    assert clean(str(tmp_path), 50, lambda _: None).deleted == [str(path)]


@settings(max_examples=60, deadline=None)
@given(ages=st.lists(st.integers(0, 20_000), max_size=8), ttl=st.integers(0, 20_000))
def test_deleted_are_exactly_the_expired(tmp_path_factory: pytest.TempPathFactory, ages: list[int], ttl: int) -> None:
    folder = tmp_path_factory.mktemp("out")
    files = {make(folder, seconds): seconds for seconds in ages}
    deleted, events = run(folder, ttl)
    assert set(deleted) == {str(path) for path, seconds in files.items() if seconds >= ttl}
    assert len(events) == len(deleted)
    assert set(os.listdir(folder)) == {path.name for path, seconds in files.items() if seconds < ttl}
