"""Output folders in which nothing can be written, also by root, and that can be mended."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lro_conformance.capture.intervention import REMOVED, REPLACED
from lro_conformance.wire.watchdog import remove_tree


class BrokenFolder:
    """A folder that is broken from the beginning until it is mended. What was in it is there again then."""

    def __init__(self, folder: Path, kind: str) -> None:
        if kind not in (REPLACED, REMOVED):
            raise ValueError(f"a folder is {REPLACED} or {REMOVED}, not {kind}")
        self._folder = folder
        self._aside = folder.with_name(f"{folder.name}.aside")
        self._mode = folder.stat().st_mode & 0o777
        self._aside.mkdir()
        # The folder itself is removed: one that is moved could still be written by a process that has it open.
        self._move(folder, self._aside)
        clear(folder)
        if kind == REPLACED:
            put_a_file(folder)

    def mend(self) -> None:
        """Make the folder again, with its earlier files; files of a folder that the server has made stay there, too."""
        if not self._folder.is_dir():
            clear(self._folder)
            self._folder.mkdir()
        self._folder.chmod(self._mode)
        self._move(self._aside, self._folder)
        self._aside.rmdir()

    @staticmethod
    def _move(source: Path, target: Path) -> None:
        for name in os.listdir(source):
            with suppress(FileNotFoundError):  # a server that cleans up all the time may have been here
                os.rename(f"{source}/{name}", f"{target}/{name}")


def clear(path: Path) -> None:
    """Remove the entry at a path: a folder, a link or a file, or nothing."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        remove_tree(str(path))


def put_a_file(path: Path) -> None:
    """Write a regular file where a folder is expected."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"in the way\n")
