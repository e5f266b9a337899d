"""Expired files that only got another name."""

from __future__ import annotations

from pathlib import Path

from lro_conformance.trials import cleanup


def test_a_file_is_known_by_its_digest(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"content")
    digest = cleanup._digest(tmp_path / "old")
    assert digest is not None
    (tmp_path / "old").rename(tmp_path / "new")
    (tmp_path / "fresh").write_bytes(b"of its own")
    assert list(cleanup._renamed(tmp_path, {digest: "old"}, {"old"})) == [("old", "new")]


def test_a_copy_beside_the_file_is_no_new_name(tmp_path: Path) -> None:
    for name in ("old", "copy"):
        (tmp_path / name).write_bytes(b"content")
    digest = cleanup._digest(tmp_path / "old")
    assert digest is not None
    assert list(cleanup._renamed(tmp_path, {digest: "old"}, {"old"})) == []


def test_a_server_may_remove_its_empty_folder(tmp_path: Path) -> None:
    assert list(cleanup._renamed(tmp_path / "gone", {b"digest": "old"}, {"old"})) == []
