"""Output folders that are broken until they are mended: nothing can be written, not even by root unless read-only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lro_conformance.capture.intervention import BREAKING, PARENT_REPLACED, READ_ONLY, REMOVED
from lro_conformance.wire.watchdog import remove_tree


class BrokenFolder:
    """A folder that is broken from the beginning until it is mended; then its content is back.

    *kind* is a key of `BREAKING`. If its parent folder is replaced, nothing else in that is kept.
    """

    def __init__(self, folder: Path, kind: str) -> None:
        if kind not in BREAKING:
            raise ValueError(f"a folder is {', '.join(BREAKING)}, not {kind}")
        self._folder = folder
        self._mode = folder.stat().st_mode & 0o777
        self._outer = folder.parent if kind == PARENT_REPLACED else folder
        self._aside = self._outer.with_name(f"{self._outer.name}.aside")
        self._aside.mkdir()
        if kind == READ_ONLY:
            folder.chmod(0o500)
            return
        # The folder itself is removed: one that is moved could still be written by a process that has it open.
        self._move(folder, self._aside)
        clear(self._outer)
        if kind != REMOVED:
            put_a_file(self._outer)

    def mend(self) -> None:
        """Make the folder again, with its earlier files; files of a folder that the server has made stay there, too."""
        if not self._folder.is_dir():
            clear(self._outer)
            self._folder.mkdir(parents=True)
        self._folder.chmod(self._mode)
        self._move(self._aside, self._folder)
        self._aside.rmdir()

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None:
        self.mend()

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
