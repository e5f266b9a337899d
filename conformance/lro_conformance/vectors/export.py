"""Exports of the vectors, together with their documentation and the runners (programs that run the vectors in several
languages). An export is a folder or an archive. The bytes of an archive depend only on its content."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import cast

from lro_conformance.capture.records import as_record
from lro_conformance.errors import UsageError
from lro_conformance.vectors.model import INDEX, Corpus, files_of, folder

_NOT_EXPORTED = {"node_modules", "target", "__pycache__", "package-lock.json", "Cargo.lock"}
"""Names of files and folders that are created when a runner is used. They are not exported."""


def contents(corpus: Corpus, edition: str | None = None) -> dict[str, bytes]:
    """The contents of the files of an export, by their paths: the vectors with their index, the documentation and the
    runners.

    A runner may have a file ``exceptions.json``, which lists vectors and kinds that its implementation does not answer
    as expected. In the export, it lists only vectors of *corpus* in this *edition*. If *edition* is None, the edition
    that is stated in ``exceptions.json`` is used.
    """
    root = folder()
    other_files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if (path.is_file() and path.parent != root) or path.suffix == ".md"
    }
    exported = {name: data for name, data in other_files.items() if not _NOT_EXPORTED & set(name.split("/"))}
    for name in exported:
        if name.endswith("/exceptions.json"):
            exported[name] = _exceptions(exported[name], corpus, edition)
    return {**{name: text.encode() for name, text in files_of(corpus).items()}, **exported}


def _exceptions(data: bytes, corpus: Corpus, edition: str | None) -> bytes:
    value = json.loads(data)
    value["edition"] = edition or value["edition"]
    chosen = corpus.select(edition=value["edition"]).vectors
    known = {v.id for v in chosen} | {v.kind for v in chosen}
    value["exceptions"] = {name: why for name, why in value["exceptions"].items() if name in known}
    return (json.dumps(value, indent=2) + "\n").encode()


def write_folder(corpus: Corpus, target: Path, edition: str | None = None) -> int:
    """Write an export to a folder, and return the number of files. An earlier export in this folder is replaced.

    Raises `UsageError` if the folder has files but does not have an earlier export.
    """
    files = contents(corpus, edition)
    for path in _files_of_earlier(target):
        if path.name not in files:
            path.unlink(missing_ok=True)
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return len(files)


def _files_of_earlier(target: Path) -> list[Path]:
    """The files of vectors that an earlier export has written to this folder. Empty if the folder is new or empty.

    Raises `UsageError` if the folder has files, but no index of vectors.
    """
    if not target.is_dir() or not any(target.iterdir()):
        return []
    try:
        index = as_record(json.loads((target / INDEX).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        index = {}
    if not str(index.get("format")).startswith("lro-vectors/"):
        raise UsageError(
            f"{target} has files, but no {INDEX} of vectors: name a folder that is new, empty, or an earlier export"
        )
    listed = index.get("files")
    entries = cast("list[object]", listed) if isinstance(listed, list) else []
    names = {str(as_record(entry).get("name")) for entry in entries}
    return [path for path in target.glob("*.json") if path.name in names and path.is_file()]


def archive(corpus: Corpus, edition: str | None = None) -> bytes:
    """An export as a .tar.gz file. Its bytes are the same on every machine and at every time."""
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
