"""Files that look old, planted beside a server that may delete them at any moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lro_conformance.trials.planting import OLD_S, plant, plant_decoys

TEMPLATE = b'{"type": "lro_header", "timestamp": "2026-01-01T00:00:00Z"}\n{"id": "a"}\n'


def test_what_a_server_deletes_meanwhile_is_gone_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, real = tmp_path / "out", os.utime
    folder.mkdir()

    def deleted_first(path: Path, times: tuple[float, float], *, follow_symlinks: bool = True) -> None:
        path.unlink()
        real(path, times, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "utime", deleted_first)
    assert not plant(folder, TEMPLATE, OLD_S, "recall").exists()
    made = plant_decoys(folder, tmp_path, TEMPLATE, "recall", "lro-6400")
    assert len(made) > 10
    assert not any(path.exists() for path, _ in made)
