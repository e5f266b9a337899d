"""Atomic writes: a reader of a regular file sees either the old content or the complete new content."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def check_target(path: Path) -> None:
    """Raise `OSError` if *path* cannot be written. A run checks this before it starts, so that it does not fail at its
    end."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the directory {path.parent} does not exist")
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path} cannot be written")
        return
    partial = _partial_path(
        resolve_links(path)
    )  # a directory may refuse new files whatever its mode says, as /proc does
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as problem:
        raise type(problem)(f"{path} cannot be written: {problem.strerror}") from None
    partial.unlink()


def write_text(text: str, path: Path) -> None:
    """Write *text* as UTF-8 to *path*. Raises `OSError` with *path* as its file name.

    A regular file is replaced in one step. A device or a pipe is written to directly.
    """
    data = text.encode()
    try:
        if _is_special(path):  # such as /dev/stdout or a named pipe, which a renamed file would replace
            path.write_bytes(data)
        else:
            _replace(resolve_links(path), data)
    except OSError as problem:  # the error names the partial file, or no file (/dev/full)
        raise type(problem)(problem.errno, problem.strerror, str(path)) from None


def _replace(target: Path, data: bytes) -> None:
    partial = _partial_path(target)
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise


def _partial_path(target: Path) -> Path:
    """An unused file name next to the target."""
    return target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")


def resolve_links(path: Path) -> Path:
    """Return the path with all symlinks resolved. Writing to that path keeps the links, and replaces the file behind
    them."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()
