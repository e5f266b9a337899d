"""Writer of a folder of evidence. It prepares the folder, stores contents by their checksums, and redacts secrets."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from lro_conformance.evidence.format import (
    FILES,
    FORMAT,
    INLINE_BYTES,
    MANIFEST,
    TOP_LEVEL_NAMES,
    EvidenceError,
    as_text,
    dumps,
)
from lro_spec.redaction import Masks


class Store:
    """A folder for evidence. Every method redacts the secrets in the data that it writes or returns."""

    def __init__(self, folder: Path, masks: Masks) -> None:
        self.folder = folder
        self._masks = masks
        self._stored_names: set[str] = set()
        self._lock = threading.Lock()

    def contents(self, data: bytes) -> dict[str, Any]:
        """Write *data* to a file named by its checksum, and return a reference to it."""
        masked = self._masks.data(data)
        name = hashlib.sha256(masked).hexdigest()
        with self._lock:
            new = name not in self._stored_names
            self._stored_names.add(name)
        if new:
            self._write(f"{FILES}/{name}", masked)
        return {"sha256": name, "bytes": len(masked)}

    def bytes(self, data: bytes) -> dict[str, Any]:
        """Return *data* as a JSON object. If the data is long, it is written to a file, and the object refers to this
        file."""
        return self.contents(data) if len(data) > INLINE_BYTES else as_text(self._masks.data(data))

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return environment variables for recording. Variables with secret names are redacted, whatever their
        values."""
        return {name: self._masks.variable(name, value) for name, value in variables.items()}

    @property
    def redacted(self) -> list[str]:
        """The names of the variables whose values are redacted."""
        return list(self._masks.names)

    def _write(self, name: str, data: bytes) -> None:
        """Write a file in one step."""
        path = self.folder / name
        partial = path.with_name(f".{path.name}.partial")
        with open(partial, "wb") as stream:
            stream.write(data)
        partial.replace(path)

    def write_json(self, name: str, value: object, *, indent: int | None = 1) -> None:
        """Write a JSON document in one step."""
        self._write(name, (dumps(self._masks.value(value), indent=indent) + "\n").encode())

    def write_lines(self, name: str, values: Iterable[object]) -> None:
        """Write JSON lines in one step."""
        self._write(name, b"".join(map(self.line, values)))

    def line(self, value: object) -> bytes:
        """One JSON line."""
        return (dumps(self._masks.value(value)) + "\n").encode()


def claim(folder: Path) -> None:
    """Prepare *folder* for new evidence, and delete earlier evidence in it.

    Raises `EvidenceError` if the folder contains anything else, or if it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        existing_names = sorted(os.listdir(folder))
        if existing_names and not is_evidence(folder):
            raise EvidenceError(f"{folder} is not empty and is not evidence: choose a new or an empty directory")
        foreign_names = [name for name in existing_names if name not in TOP_LEVEL_NAMES]
        if foreign_names:
            raise EvidenceError(
                f"{folder} contains {foreign_names[0]}, which is not part of evidence: choose another directory"
            )
        marker = folder / MANIFEST
        marker.write_text(dumps({"format": FORMAT, "complete": False}) + "\n", encoding="utf-8")
        for name in existing_names:
            path = folder / name
            if name == MANIFEST:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        (folder / FILES).mkdir()
    except OSError as problem:
        raise EvidenceError(f"{folder}: {problem.strerror or problem}") from None


def is_evidence(folder: Path) -> bool:
    """True if a folder was written by this package, even if the folder was changed since then."""
    try:
        with open(folder / MANIFEST, "rb") as stream:
            value: Any = json.loads(stream.read(64 << 20))
    except (OSError, ValueError, RecursionError):
        return False
    form = cast("dict[str, Any]", value).get("format") if isinstance(value, dict) else None
    return isinstance(form, str) and form.startswith("lro-evidence/")
