"""The time limit for a pipe: which of its two reasons a reader is told."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lro_conformance.patience import PatientPipe
from lro_conformance.profile.yaml import read_file


def test_a_pipe_that_is_quiet_at_the_very_end_of_the_time_limit_has_no_end() -> None:
    reader, writer = os.pipe()
    try:
        pipe = PatientPipe(reader, 1.0)
        time.sleep(0.95)
        with pytest.raises(TimeoutError, match="no end within 1 s"):
            pipe.read(1)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_pipe_of_which_nothing_comes_is_given_up_early() -> None:
    reader, writer = os.pipe()
    try:
        with pytest.raises(TimeoutError, match=r"nothing came for 0\.1 s"):
            PatientPipe(reader, 1.0).read(1)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_profile_in_a_pipe_is_read_within_the_same_limits(tmp_path: Path) -> None:
    path = tmp_path / "lro.yaml"
    os.mkfifo(path)
    with pytest.raises(TimeoutError, match=r"nothing came for 0\.1 s$"):
        read_file(path, 1.0)
    writer = os.open(path, os.O_RDWR)  # it has no end while this is open
    try:
        os.write(writer, b"server: {}\n")
        with pytest.raises(TimeoutError, match=r"nothing came for 0\.1 s$"):
            read_file(path, 1.0)
    finally:
        os.close(writer)
