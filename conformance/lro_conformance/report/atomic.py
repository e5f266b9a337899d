"""Atomic writes: a reader of a regular file sees the old file or the complete new one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def check_target(path: Path) -> None:
    """Raise `OSError` if *path* cannot be written. A run checks this first, so as not to fail at its end."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the directory {path.parent} does not exist")
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path} cannot be written")
        return
    partial = _partial(real(path))  # a directory may refuse new files whatever its mode says, as /proc does
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as problem:
        raise type(problem)(f"{path} cannot be written: {problem.strerror}") from None
    partial.unlink()


def write_text(text: str, path: Path) -> None:
    """Write *text* as UTF-8 to *path*: in one step, unless it is a device or a pipe. Raises `OSError` with *path* as
    its file name."""
    data = text.encode()
    try:
        if _is_special(path):  # /dev/stdout, a named pipe: renaming over one would replace it
            path.write_bytes(data)
        else:
            _replace(real(path), data)
    except OSError as problem:  # its file name is that of the partial file, or missing (/dev/full)
        raise type(problem)(problem.errno, problem.strerror, str(path)) from None


def _replace(target: Path, data: bytes) -> None:
    partial = _partial(target)
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


def _partial(target: Path) -> Path:
    """An unused file name next to the target."""
    return target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")


def real(path: Path) -> Path:
    """The path behind a symlink: writing there keeps the link and replaces its target."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()
