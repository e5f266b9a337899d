"""Which files a pattern means where folders hold links to folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from lro_conformance.validate.paths import NothingFoundError, input_files


@pytest.fixture
def looped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop/deep").mkdir(parents=True)
    for name in ("x.jsonl", "loop/x.jsonl", "loop/deep/x.jsonl"):
        (tmp_path / name).touch()
    for name, target in (("a", "../loop"), ("up", ".."), ("x2.jsonl", "x.jsonl")):
        (tmp_path / "loop" / name).symlink_to(target)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("loop/*/*.jsonl", ["loop/deep/x.jsonl"]),
        ("*/*/x.jsonl", ["loop/deep/x.jsonl"]),
        ("loop/a/*.jsonl", ["loop/a/x.jsonl", "loop/a/x2.jsonl"]),  # the link was written out
        ("loop/up/loop/*/*.jsonl", ["loop/up/loop/deep/x.jsonl"]),
        ("loop/*.jsonl", ["loop/x.jsonl", "loop/x2.jsonl"]),
    ],
)
def test_links_to_folders_are_gone_through_only_where_they_are_written_out(
    looped: Path, pattern: str, files: list[str]
) -> None:
    assert [each.path for each in input_files([pattern])] == files


@pytest.mark.parametrize("pattern", ["loop/*/*/*.jsonl", "*/up/*.jsonl", "**/a/*.jsonl"])
def test_a_pattern_does_not_leave_its_folder(looped: Path, pattern: str) -> None:
    with pytest.raises(NothingFoundError):
        input_files([pattern])
