"""Writing into a folder of evidence: the claim on the folder, contents by their checksum, files that are never half."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any, cast

from lro_conformance.evidence.format import FILES, FORMAT, INLINE_BYTES, MANIFEST, OWN, EvidenceError, as_text, dumps
from lro_spec.redaction import Masks


class Store:
    """A folder that evidence is written to."""

    def __init__(self, folder: Path, masks: Masks) -> None:
        self.folder = folder
        self.masks = masks
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def contents(self, data: bytes) -> dict[str, Any]:
        """Keep *data*, masked, once; what says where."""
        masked = self.masks.data(data)
        name = hashlib.sha256(masked).hexdigest()
        with self._lock:
            new = name not in self._known
            self._known.add(name)
        if new:
            self.write(f"{FILES}/{name}", masked)
        return {"sha256": name, "bytes": len(masked)}

    def bytes(self, data: bytes) -> dict[str, Any]:
        """The same for what is worth a file of its own only when it is long."""
        return self.contents(data) if len(data) > INLINE_BYTES else as_text(self.masks.data(data))

    def write(self, name: str, data: bytes) -> None:
        """Write a file in one step."""
        path = self.folder / name
        partial = path.with_name(f".{path.name}.partial")
        with open(partial, "wb") as stream:
            stream.write(data)
        partial.replace(path)

    def write_json(self, name: str, value: object, *, indent: int | None = 1) -> None:
        """Write a JSON document in one step; its texts must be masked already."""
        self.write(name, (dumps(value, indent=indent) + "\n").encode())


def claim(folder: Path) -> None:
    """Make *folder* one that evidence may be written to, and empty it of earlier evidence.

    Raises `EvidenceError` when it holds anything else, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = sorted(os.listdir(folder))
        if found and not is_evidence(folder):
            raise EvidenceError(f"{folder} is not empty and holds no evidence: name a new folder, or an empty one")
        strange = [name for name in found if name not in OWN]
        if strange:
            raise EvidenceError(f"{folder} holds {strange[0]}, which is no part of evidence: name another folder")
        marker = folder / MANIFEST
        marker.write_text(dumps({"format": FORMAT, "complete": False}) + "\n", encoding="utf-8")
        for name in found:
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
    """Whether a folder was written by this package, whatever became of it."""
    try:
        with open(folder / MANIFEST, "rb") as stream:
            value: Any = json.loads(stream.read(64 << 20))
    except (OSError, ValueError, RecursionError):
        return False
    form = cast("dict[str, Any]", value).get("format") if isinstance(value, dict) else None
    return isinstance(form, str) and form.startswith("lro-evidence/")
