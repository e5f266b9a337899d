"""Output folders that are broken for a while, so that servers cannot write into them. (Root can still write into a
read-only folder.)"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lro_conformance.capture.intervention import BREAKING, PARENT_REPLACED, READ_ONLY, REMOVED
from lro_conformance.wire.watchdog import remove_tree


class BrokenFolder:
    """A folder that is broken from the creation of this object until `mend` restores the folder with its content.

    *kind* is a key of `BREAKING`. If the parent folder is replaced, the other entries of the parent folder are lost.
    """

    def __init__(self, folder: Path, kind: str) -> None:
        if kind not in BREAKING:
            raise ValueError(f"a folder can be {', '.join(BREAKING)}, not {kind}")
        self._folder = folder
        self._mode = folder.stat().st_mode & 0o777
        self._broken_path = folder.parent if kind == PARENT_REPLACED else folder
        self._backup = self._broken_path.with_name(f"{self._broken_path.name}.aside")
        self._backup.mkdir()
        if kind == READ_ONLY:
            folder.chmod(0o500)
            return
        # The folder itself is removed, because a process that has it open could still write to it if it were moved.
        self._move(folder, self._backup)
        clear(self._broken_path)
        if kind != REMOVED:
            put_a_file(self._broken_path)

    def mend(self) -> None:
        """Restore the folder with its earlier files. If a server has created the folder again meanwhile, the server's
        files stay in it."""
        if not self._folder.is_dir():
            clear(self._broken_path)
            self._folder.mkdir(parents=True)
        self._folder.chmod(self._mode)
        self._move(self._backup, self._folder)
        self._backup.rmdir()

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None:
        self.mend()

    @staticmethod
    def _move(source: Path, target: Path) -> None:
        for name in os.listdir(source):
            with suppress(FileNotFoundError):  # a server that cleans up by itself may have deleted the file
                os.rename(f"{source}/{name}", f"{target}/{name}")


def clear(path: Path) -> None:
    """Remove the entry at a path: a folder with its content, a link or a file. The entry may be missing."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        remove_tree(str(path))


def put_a_file(path: Path) -> None:
    """Write a regular file at a path at which a folder is expected."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"in the way\n")
