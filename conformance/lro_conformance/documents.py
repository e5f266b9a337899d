"""Documents as `lro validate` meets them: which kind one is, and what is wrong with it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from lro_spec.findings import Finding, pointer
from lro_spec.strictjson import StrictJsonError, loads
from lro_spec.validation import validate_descriptor, validate_file, validate_header

Kind = Literal["descriptor", "header", "file", "profile", "report"]


class UnreadableError(Exception):
    """A path cannot be read, or what it holds not be told; the message names it."""


def findings_of(path: str, kind: str | None, edition: str) -> Iterator[Finding]:
    """What is wrong with the document at *path* (``-`` is standard input), as it is found.

    Raises `UnreadableError` when it cannot be read, or when *kind* is None and nothing tells its kind.
    """
    try:
        with _opened(path) as stream:
            yield from _findings(path, stream, kind or _kind(path, stream), edition)
    except OSError as problem:
        raise UnreadableError(f"{path}: {problem.strerror or problem}") from None


def _opened(path: str) -> BinaryIO:
    if path != "-" and Path(path).is_file():
        return open(path, "rb")
    # to be read twice, once for its kind: a pipe is kept on disk, however long it is
    kept = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
    if path == "-":
        shutil.copyfileobj(sys.stdin.buffer, kept)
    else:
        with open(path, "rb") as pipe:
            shutil.copyfileobj(pipe, kept)
    kept.seek(0)
    return kept


def _kind(path: str, stream: BinaryIO) -> Kind:
    """The kind by name (``.yaml``, ``.jsonl``), else by what is written there."""
    suffix = Path(path).suffix.lower()
    if suffix in (".yaml", ".yml"):
        return "profile"
    if suffix in (".jsonl", ".ndjson"):
        return "file"
    first = stream.readline(1 << 20)
    more = bool(stream.read(4096).strip())
    stream.seek(0)
    top = _object(first)
    if top is not None and more:
        return "file"  # several lines, the first an object by itself: also a file that forgot its header
    top = top or _object(stream.read())
    stream.seek(0)
    if top is None:
        raise UnreadableError(f"{path}: no JSON object, so its kind cannot be told: name it with --kind")
    if top.get("type") == "lro_header":
        return "header"
    if str(top.get("format", "")).startswith("lro-report"):
        return "report"
    if "offloaded" in top or "file_path" in top:
        return "descriptor"
    raise UnreadableError(f"{path}: no descriptor, header, file, profile or report as far as one sees: use --kind")


def _object(data: bytes) -> dict[str, Any] | None:
    import json  # leniently: what is wrong with it is found later, by the strict reader

    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _findings(path: str, stream: BinaryIO, kind: str, edition: str) -> Iterator[Finding]:
    if kind == "profile":
        yield from _profile(path, stream)
    elif kind == "file":
        name = Path(path).name if Path(path).is_file() else None  # a pipe's name says nothing
        yield from validate_file(stream, name=name, edition=edition)
    else:
        try:
            value = loads(stream.read())
        except StrictJsonError as problem:
            said = problem.problem
            yield Finding(kind, "", said, "strict JSON", said, line=problem.line, column=problem.column)
            return
        if kind == "descriptor":
            yield from validate_descriptor(value, edition=edition)
        elif kind == "header":
            yield from validate_header(value, edition=edition)
        else:
            yield from _report(value)


def _report(value: object) -> Iterator[Finding]:
    from lro_spec.schema_errors import violations

    for error in violations(value, "report"):
        message = f"expected {error.expected}, got {error.observed}"
        yield Finding("report", pointer(list(error.path)), message, error.expected, error.observed)


def _profile(path: str, stream: BinaryIO) -> Iterator[Finding]:
    from lro_conformance.profile import ProfileError, load

    try:
        if path == "-":
            with tempfile.NamedTemporaryFile(suffix=".yaml") as kept:
                shutil.copyfileobj(stream, kept)
                kept.flush()
                load(Path(kept.name))
        else:
            load(Path(path))
    except ProfileError as error:
        for problem in error.problems:
            message = f"{problem.key}: {problem.message}" if problem.key else problem.message
            yield Finding("profile", "", message, "", "", line=problem.line)
