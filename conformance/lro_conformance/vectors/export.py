"""Copies of the vectors: a folder with the runners, or an archive whose bytes depend on nothing but the content."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

from lro_conformance.vectors.model import Corpus, files_of, folder

_LEFT_OUT = {"node_modules", "target", "__pycache__", "package-lock.json", "Cargo.lock"}


def contents(corpus: Corpus, edition: str | None = None) -> dict[str, bytes]:
    """The files of an export by their paths: the vectors with their index, and all that the folder has beside them.

    The examples' exceptions are those of this edition and of these vectors.
    """
    root = folder()
    beside = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if (path.is_file() and path.parent != root) or path.suffix == ".md"
    }
    kept = {name: data for name, data in beside.items() if not _LEFT_OUT & set(name.split("/"))}
    for name in kept:
        if name.endswith("/exceptions.json"):
            kept[name] = _exceptions(kept[name], corpus, edition)
    return {**{name: text.encode() for name, text in files_of(corpus).items()}, **kept}


def _exceptions(data: bytes, corpus: Corpus, edition: str | None) -> bytes:
    value = json.loads(data)
    value["edition"] = edition or value["edition"]
    mine = corpus.select(edition=value["edition"]).vectors
    known = {v.id for v in mine} | {v.kind for v in mine}
    value["exceptions"] = {name: why for name, why in value["exceptions"].items() if name in known}
    return (json.dumps(value, indent=2) + "\n").encode()


def write_folder(corpus: Corpus, target: Path, edition: str | None = None) -> int:
    """Write an export into a folder, and return the number of files."""
    files = contents(corpus, edition)
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return len(files)


def archive(corpus: Corpus, edition: str | None = None) -> bytes:
    """An export as .tar.gz: the same bytes on every machine and day."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(contents(corpus, edition).items()):
            entry = tarfile.TarInfo(f"lro-vectors-{corpus.version}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, 0
            tar.addfile(entry, io.BytesIO(data))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0, compresslevel=9) as stream:
        stream.write(plain.getvalue())
    return packed.getvalue()
