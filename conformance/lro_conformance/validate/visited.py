"""With `--follow`: each file is judged once, with its descriptor where one of those that are named leads to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from lro_conformance.validate.paths import LINES, STDIN, Chosen
from lro_spec.jsonl.compression import DamagedError, Peekable, plain_name, unpacked
from lro_spec.jsonl.lines import Readable

_DOCUMENTS = ("", ".json", ".yaml", ".yml")
_LOOK = 64 * 1024


class VisitedFiles:
    """The files that descriptors led to, and that were judged.

    A file is the same by whatever path it is reached, but not under another name: its name is judged, too.
    """

    def __init__(self) -> None:
        self._files: set[tuple[str, str]] = set()

    def add(self, path: str) -> None:
        """One more was judged."""
        self._files.add(_key(path))

    def __contains__(self, path: str) -> bool:
        return bool(self._files) and path != STDIN and _key(path) in self._files


def files_last(found: Iterable[Chosen]) -> list[Chosen]:
    """The same paths, those of files of lines behind all that may be a descriptor, by their names or first lines."""
    return sorted(found, key=lambda each: _rank(each.path))


def _rank(path: str) -> int:
    suffix = Path(plain_name(path)).suffix.lower()
    return 2 if suffix in LINES or _starts_with_a_record(path) else 0 if suffix in _DOCUMENTS else 1


def _starts_with_a_record(path: str) -> bool:
    """Return whether the first line is JSON by itself, and not the last. A pipe can be read but once, and is not."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb", buffering=0) as stream:
            first, _, rest = unpacked(Peekable(cast("Readable", stream))).peek(_LOOK).partition(b"\n")
        return bool(rest.strip()) and isinstance(json.loads(first), dict)
    except (OSError, DamagedError, ValueError, RecursionError):
        return False


def _key(path: str) -> tuple[str, str]:
    return os.path.realpath(path), plain_name(os.path.basename(path))
