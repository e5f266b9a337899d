"""The writer: exclusive, private, atomic, and nothing left behind."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lro_reference import writer
from lro_reference.writer import encode, temporary_name, write

NAME = "atlatl-recall-01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl"


def in_child(work: Callable[[], object]) -> str:
    """What `work` returned or raised (as ``TypeName errno``) in a forked process."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            outcome = f"returned {work()}"
        except OSError as problem:
            outcome = f"{type(problem).__name__} {problem.errno}"
        except BaseException as problem:
            outcome = repr(problem)
        os.write(writing, outcome.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        outcome = said.read()
    os.waitpid(child, 0)
    return outcome


def test_lines_are_written_and_the_path_returned(tmp_path: Path) -> None:
    path = write(str(tmp_path), NAME, [b'{"a":1}', "é".encode()])
    assert path == str(tmp_path / NAME)
    assert Path(path).read_bytes() == '{"a":1}\né\n'.encode()
    assert os.listdir(tmp_path) == [NAME]


def test_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        status = os.stat(write(str(tmp_path), NAME, [b"{}"]))
    finally:
        os.umask(old)
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert status.st_nlink == 1


def test_what_is_being_written_can_be_abandoned(tmp_path: Path) -> None:
    """By a process that a signal ends in the middle."""
    (tmp_path / "another").touch()

    def chunks() -> Iterator[bytes]:
        yield b"{}\n"
        assert (tmp_path / temporary_name(NAME)).exists()
        writer.abandon()
        assert [path.name for path in tmp_path.iterdir()] == ["another"]
        yield b"{}\n"

    with pytest.raises(FileNotFoundError):
        writer.write_chunks(str(tmp_path), NAME, chunks())
    write(str(tmp_path), NAME, [b"{}"])
    writer.abandon()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", NAME]


def test_missing_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert Path(write(str(folder), NAME, [b"{}"])).exists()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("hard_links", [True, False])
def test_existing_file_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hard_links: bool) -> None:
    if not hard_links:
        monkeypatch.setattr(os, "link", _refusing(errno.EPERM))
    (tmp_path / NAME).write_text("mine")
    with pytest.raises(FileExistsError):
        write(str(tmp_path), NAME, [b"{}"])
    assert (tmp_path / NAME).read_text() == "mine"
    assert os.listdir(tmp_path) == [NAME]


def test_file_system_without_hard_links_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _refusing(errno.EOPNOTSUPP))
    assert Path(write(str(tmp_path), NAME, [b"{}"])).read_bytes() == b"{}\n"
    assert os.listdir(tmp_path) == [NAME]


@pytest.mark.parametrize("name", [NAME, temporary_name(NAME)])
def test_symlink_in_the_way_is_not_followed(tmp_path: Path, name: str) -> None:
    folder, target = tmp_path / "out", tmp_path / "target"
    folder.mkdir()
    target.write_text("precious")
    (folder / name).symlink_to(target)
    with pytest.raises(FileExistsError):
        write(str(folder), NAME, [b"{}"])
    assert target.read_text() == "precious"


def test_folder_that_is_a_file_fails(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    for folder in (tmp_path / "out", tmp_path / "out" / "below"):
        with pytest.raises(NotADirectoryError):
            write(str(folder), NAME, [b"{}"])
    assert os.listdir(tmp_path) == ["out"]


def test_read_only_folder_fails() -> None:
    # Not tmp_path: it lies below folders that only its owner can enter.
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o555)

        def attempt() -> object:
            if os.geteuid() == 0:  # root may write anywhere
                os.setgid(65534)
                os.setuid(65534)
            return write(folder, NAME, [b"{}"])

        assert in_child(attempt) == f"PermissionError {errno.EACCES}"
        assert os.listdir(folder) == []
    finally:
        shutil.rmtree(folder)


def test_file_size_limit_fails_and_leaves_nothing(tmp_path: Path) -> None:
    def attempt() -> object:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        return write(str(tmp_path), NAME, [b"x" * 1000] * 100)

    assert in_child(attempt) == f"OSError {errno.EFBIG}"
    assert os.listdir(tmp_path) == []


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    folder.mkdir()
    if not shutil.which("mount"):
        pytest.skip("there is no mount program")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_fails_and_leaves_nothing(tiny_disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        write(str(tiny_disk), NAME, [b"x" * 1000] * 1000)
    assert os.listdir(tiny_disk) == []
    assert Path(write(str(tiny_disk), NAME, [b"small"])).read_bytes() == b"small\n"


@pytest.mark.parametrize("call", ["write", "fsync", "close", "link"])
def test_any_failing_call_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    real = getattr(os, call)
    failed: list[int] = []

    def fail_once(*arguments: object, **more: object) -> object:
        if failed:
            return real(*arguments, **more)
        if call == "close":
            real(*arguments)
        failed.append(1)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, call, fail_once)
    with pytest.raises(OSError, match="Input/output error"):
        write(str(tmp_path), NAME, [b"{}"])
    assert os.listdir(tmp_path) == []


def test_folder_that_cannot_be_synced_takes_the_file_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: _fail_for_folders(real, file, errno.EIO))
    with pytest.raises(OSError, match="Input/output error"):
        write(str(tmp_path), NAME, [b"{}"])
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(os, "fsync", lambda file: _fail_for_folders(real, file, errno.EINVAL))
    assert Path(write(str(tmp_path), NAME, [b"{}"])).exists()


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, bytes(data)[:7]))
    lines = [b"0123456789" * n for n in range(20)]
    assert Path(write(str(tmp_path), NAME, lines)).read_bytes() == b"".join(line + b"\n" for line in lines)


def test_crash_in_the_middle_shows_no_final_name(tmp_path: Path) -> None:
    def lines() -> Iterator[bytes]:
        yield b"x" * (2 << 20)
        os._exit(1)

    in_child(lambda: write(str(tmp_path), NAME, lines()))
    assert os.listdir(tmp_path) == [temporary_name(NAME)]


def test_many_lines_are_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_CHUNK_BYTES", 64)
    lines = [str(n).encode() for n in range(1000)]
    assert Path(write(str(tmp_path), NAME, iter(lines))).read_bytes().splitlines() == lines


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_a_value_is_one_line_and_comes_back(value: object) -> None:
    line = encode(value)
    assert b"\n" not in line
    assert b"\r" not in line
    assert json.loads(line) == value


def test_what_the_fast_encoder_refuses_is_still_exact() -> None:
    deep: object = "bottom"
    for _ in range(300):
        deep = [deep]
    value = {"big": 10**40, "deep": deep, "text": "\u2028 字"}
    assert json.loads(encode(value)) == value


def _refusing(number: int) -> Callable[..., object]:
    def refuse(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    return refuse


def _fail_for_folders(real: Callable[[int], None], file: int, number: int) -> None:
    if stat.S_ISDIR(os.fstat(file).st_mode):
        raise OSError(number, os.strerror(number))
    real(file)
