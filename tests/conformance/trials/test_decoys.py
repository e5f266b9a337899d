"""Files that look old, planted beside a server that may delete them at any moment."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from lro_conformance.capture.file import FileSeen
from lro_conformance.trials.decoys import OLD_AGE_S, plant, plant_decoys

TEMPLATE = b'{"type": "lro_header", "timestamp": "2026-01-01T00:00:00Z"}\n{"id": "a"}\n'


def test_what_a_server_deletes_meanwhile_is_gone_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, real = tmp_path / "out", os.utime
    folder.mkdir()

    def deleted_first(path: Path, times: tuple[float, float], *, follow_symlinks: bool = True) -> None:
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        real(path, times, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "utime", deleted_first)
    assert not plant(folder, FileSeen("/out/x", None, TEMPLATE), OLD_AGE_S, "recall").exists()
    made = plant_decoys(folder, tmp_path, TEMPLATE, "recall", "lro-6400")
    assert len(made) > 10
    assert not any(path.exists() for path, _ in made)


def planted(folder: Path, header: dict[str, object], ahead_s: float = 0.0) -> tuple[dict[str, object], float]:
    """The header of a file that was planted an hour old, and its age by its date."""
    now = time.time()
    own = FileSeen("/out/x", None, json.dumps(header).encode() + b'\n{"id": "a"}\n', mtime=now + ahead_s)
    path = plant(folder, own, 3600, "recall")
    return json.loads(path.read_bytes().partition(b"\n")[0]), now - path.stat().st_mtime


def test_every_time_in_the_header_is_moved_back_in_its_form(tmp_path: Path) -> None:
    seconds, milliseconds = int(time.time()) + 60, int(time.time() * 1000)
    made: dict[str, object] = {
        "timestamp": "2026-01-01T02:00:00.250Z",
        "ends": "2026-01-01 03:00:00+01:00",
        "at": seconds,
        "made_ms": milliseconds,
        "exact": seconds + 0.5,
    }
    others = {"query": "2026-01-01T02:00:00Z", "count": 7, "estimated_tokens": 70_000, "fresh": True, "note": None}
    header, age = planted(tmp_path, {**made, **others})
    assert header == {
        "timestamp": "2026-01-01T01:00:00.250Z",
        "ends": "2026-01-01 02:00:00+01:00",
        "at": seconds - 3600,
        "made_ms": milliseconds - 3_600_000,
        "exact": seconds + 0.5 - 3600,
        **others,
    }
    assert age == pytest.approx(3600, abs=5)


def test_what_no_clock_tells_stays(tmp_path: Path) -> None:
    odd: dict[str, object] = {"timestamp": "0001-01-01T00:00:00Z", "large": 10**400, "endless": float("inf")}
    assert planted(tmp_path, odd)[0] == odd


def test_a_date_in_the_future_stays_as_far_ahead_of_writing(tmp_path: Path) -> None:
    assert planted(tmp_path, {}, 600)[1] == pytest.approx(3000, abs=5)
    assert planted(tmp_path, {}, 30)[1] == pytest.approx(3600, abs=5)
    assert planted(tmp_path, {}, -900)[1] == pytest.approx(3600, abs=5)
