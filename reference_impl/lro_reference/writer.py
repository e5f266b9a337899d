"""Writes one offloaded result. Writing is exclusive, private, atomic and durable, and leaves nothing after a failure.

The lines go to a hidden temporary file in the same folder, which takes its final name only when every byte is on
disk. A reader of the final name therefore sees the complete file, and a crash half-way leaves a temporary file that
the custodian recognises (`temporary_name`).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from lro_spec.jsonl import lossless

_CHUNK_BYTES = 1 << 20
_NO_HARD_LINK_ERRORS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
_NO_FOLDER_SYNC_ERRORS = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF, errno.EACCES})
TEMPORARY_SUFFIX = ".tmp"
_in_progress: set[str] = set()
"""Paths of the temporary files that are being written."""


def encode(record: Any) -> bytes:
    """A JSON value as one line, without its line end."""
    try:
        return orjson.dumps(record)  # tried first without any check: this runs once per record
    except TypeError:
        return lossless.dump(record)


def temporary_name(name: str) -> str:
    """The name of a file while it is being written; ``atlatl-*.jsonl`` does not match it, because of the dot."""
    return f".{name}{TEMPORARY_SUFFIX}"


def write(
    folder: str, name: str, lines: Iterable[bytes], on_chunk: Callable[[bytes], object] = lambda chunk: None
) -> str:
    """Write ``lines`` (without line ends) as ``folder/name`` and return its path; see `write_chunks`.

    *on_chunk* receives all that is written, in pieces of some whole lines each.
    """

    def watched() -> Iterator[bytes]:
        for chunk in _chunks(lines):
            on_chunk(chunk)
            yield chunk

    return write_chunks(folder, name, watched())


def write_chunks(folder: str, name: str, chunks: Iterable[bytes]) -> str:
    """Write ``chunks`` verbatim as ``folder/name``, and return its path.

    A missing folder is created, the file is readable by its owner only (0600), and an existing file of this name is
    never replaced.

    Raises `OSError` if the file cannot be written (no space, no permission, not a folder, file too large, name taken
    …). In that case, neither the file nor a part of it exists.
    """
    directory = _open_folder(folder)
    try:
        temporary = temporary_name(name)
        _in_progress.add(path := os.path.join(folder, temporary))  # before it exists, so that `abandon` finds it
        try:
            # Directory-relative calls keep to the folder that was opened, even if its path is swapped meanwhile.
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=directory)
            try:
                try:
                    _write_all(file, chunks)
                    os.fsync(file)
                finally:
                    os.close(file)  # a network file system may report a full disk only here
                _publish(temporary, name, directory)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=directory)
        finally:
            _in_progress.discard(path)
        _sync_folder(directory, name)
    finally:
        os.close(directory)
    return os.path.join(folder, name)


def abandon() -> None:
    """Remove the temporary files of all writes in progress, before a call of `os._exit`. Never raises `OSError`."""
    for path in list(_in_progress):
        with contextlib.suppress(OSError):
            os.unlink(path)


def _open_folder(folder: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        return os.open(folder, flags)
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return os.open(folder, flags)


def _write_all(file: int, chunks: Iterable[bytes]) -> None:
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(file, rest) :]  # a nearly full disk takes a part first and fails on the next call


def _chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    pending: list[bytes] = []
    size = 0
    for line in lines:
        pending.append(line)
        size += len(line)
        if size >= _CHUNK_BYTES:
            yield _join(pending)
            pending.clear()
            size = 0
    if pending:
        yield _join(pending)


def _join(lines: list[bytes]) -> bytes:
    return b"\n".join((*lines, b""))


def _publish(temporary: str, name: str, directory: int) -> None:
    # rename() would silently replace a file of that name; link() refuses. Some file systems have no hard links: there,
    # only a file that appears between the check and rename() would be replaced.
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as problem:
        if problem.errno not in _NO_HARD_LINK_ERRORS:
            raise
        if _exists(name, directory):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _exists(name: str, directory: int) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _sync_folder(directory: int, name: str) -> None:
    try:
        os.fsync(directory)
    except OSError as problem:
        if problem.errno in _NO_FOLDER_SYNC_ERRORS:  # the file system cannot; the file itself is on disk
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
        raise
