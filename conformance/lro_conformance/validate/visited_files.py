"""Files that were validated together with a descriptor, because of the option `--follow`. They are recorded so that
they are not validated a second time by themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from lro_conformance.validate.paths import LINES, STDIN, InputFile
from lro_spec.jsonl.compression import DamagedError, Peekable, plain_name, unpacked
from lro_spec.jsonl.lines import Readable

_SUFFIXES_OF_DOCUMENTS = ("", ".json", ".yaml", ".yml")
_PEEK_BYTES = 64 * 1024


class VisitedFiles:
    """Files that were validated together with their descriptors.

    A file is recognised by any path that leads to it and ends in the same file name. A path with another file name,
    such as a link, counts as another file, because the file name is validated, too.
    """

    def __init__(self) -> None:
        self._files: set[tuple[str, str]] = set()

    def add(self, path: str) -> None:
        """Add a validated file."""
        self._files.add(_key(path))

    def __contains__(self, path: str) -> bool:
        return bool(self._files) and path != STDIN and _key(path) in self._files


def descriptors_first(found: Iterable[InputFile]) -> list[InputFile]:
    """Sort files: first the files that may be descriptors, then other files, then files of lines.

    A possible descriptor is recognised by its suffix. A file of lines is recognised by its suffix or its first line.
    """
    return sorted(found, key=lambda each: _rank(each.path))


def _rank(path: str) -> int:
    suffix = Path(plain_name(path)).suffix.lower()
    return 2 if suffix in LINES or _starts_with_a_record(path) else 0 if suffix in _SUFFIXES_OF_DOCUMENTS else 1


def _starts_with_a_record(path: str) -> bool:
    """True if the file has several lines and the first is a JSON object. False for a pipe, because it could be read
    only once."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb", buffering=0) as stream:
            first, _, rest = unpacked(Peekable(cast("Readable", stream))).peek(_PEEK_BYTES).partition(b"\n")
        return bool(rest.strip()) and isinstance(json.loads(first), dict)
    except (OSError, DamagedError, ValueError, RecursionError):
        return False


def _key(path: str) -> tuple[str, str]:
    return os.path.realpath(path), plain_name(os.path.basename(path))
