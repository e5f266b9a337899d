"""Reading a file leaves nothing by which a server could count it as used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lro_conformance.capture.file import open_preserving_atime


def test_a_file_that_was_read_has_its_earlier_time_of_last_access(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"first\nsecond\n")
    os.utime(path, (1_000_000, 2_000_000))
    with open_preserving_atime(path) as file:
        assert file.readline() == b"first\n"
    assert (path.stat().st_atime, path.stat().st_mtime) == (1_000_000, 2_000_000)


def test_a_file_may_be_deleted_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"x")
    with open_preserving_atime(path) as file:
        path.unlink()
        assert file.read() == b"x"
    with pytest.raises(FileNotFoundError), open_preserving_atime(path):
        raise AssertionError("opened a file that is not there")
