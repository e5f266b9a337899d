"""What `lro validate` says of one document: see tests/golden; and where it comes from a pipe."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.validate import document as documents
from lro_conformance.validate.document import Document
from lro_conformance.validate.visited_files import VisitedFiles
from lro_spec.findings import Kind
from tests.golden.documents import DESCRIPTOR, HEADER, PROFILE, WRONG, A, lines, spread
from tests.golden.files import NAME
from tests.golden.kept import DOCUMENTS, kept


@pytest.mark.parametrize("name", DOCUMENTS["documents"])
def test_each_document_is_judged_as_it_was(name: str) -> None:
    assert DOCUMENTS["documents"][name]() == kept("documents")[name]


def test_nothing_is_kept_of_documents_that_are_gone() -> None:
    assert list(kept("documents")) == list(DOCUMENTS["documents"])


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    with chdir(tmp_path):
        yield tmp_path


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> Document:
    monkeypatch.setattr(sys, "stdin", Made(buffer=io.BytesIO(data)))
    return Document("-", None, "lro-6400")


class TestAProfile:
    def test_is_unpacked(self, here: Path) -> None:
        (here / "lro.yaml.gz").write_bytes(gzip.compress(PROFILE))
        assert list(Document("lro.yaml.gz", None, "lro-6400").findings()) == []

    def test_that_is_piped_has_folders_below_this_one(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (here / "server").mkdir()
        assert list(piped(monkeypatch, PROFILE + b"  cwd: server\n").findings()) == []
        assert [f.pointer for f in piped(monkeypatch, PROFILE + b"  cwd: x\n").findings()] == ["/server/cwd"]


@pytest.mark.parametrize(("data", "kind"), [(PROFILE, "profile"), (lines({**HEADER, "count": 1}, A), "file")])
def test_a_file_with_the_name_of_a_pipe_is_another(
    here: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, kind: str
) -> None:
    (here / "-").write_bytes(b"[]")
    document = piped(monkeypatch, data)
    assert list(document.findings()) == []
    assert document.kind == kind


def test_of_what_is_too_large_no_more_is_read_than_tells_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 30)
    (here / "x.json").write_bytes(b"{" + b" " * 99)
    stream = io.BytesIO()

    def watched(_: str, file: Any) -> Any:
        stream.write(file.read())
        stream.seek(0)
        return stream

    found = list(Document("x.json", "header", "lro-6400", wrap_stream=watched).findings())
    assert ([f.message for f in found], stream.tell()) == (["too large for a header"], 31)


class Breaking:
    """A stream that fails after its beginning."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._left = 8

    def read(self, size: int = -1, /) -> bytes:
        if not self._left:
            raise OSError(5, "Input/output error")
        part = self._stream.read(min(size, self._left))
        self._left -= len(part)
        return part


def test_a_file_that_could_not_be_read_is_judged_once_more(here: Path) -> None:
    (here / NAME).write_bytes(WRONG)
    (here / "x.json").write_bytes(spread(DESCRIPTOR))
    visited = VisitedFiles()

    def judged(*, breaking: bool) -> tuple[set[str], int]:
        def watched(path: str, stream: Any) -> Any:
            return Breaking(stream) if breaking and path == NAME else stream

        document = Document("x.json", None, "lro-6400", follow=True, wrap_stream=watched, visited=visited)
        return {f.rule for f in document.findings() if f.path == NAME}, document.lines

    assert judged(breaking=True) == (set(), 0)
    assert judged(breaking=False) == ({"LRO-FILE-11"}, 4)
    assert judged(breaking=False) == (set(), 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"type": "lro_header", "type": "lro_header", "count": "3"}', ["json ", "/count"]),
        ('{"type": "lro_header", "count": "x", "count": "3", "query": 5}', ["json ", "/query"]),
        ('{"type": "lro_header", "estimated_tokens": NaN, "count": "3"}', ["json ", "/count"]),
        (
            '{"type": "lro_header", "estimated_tokens": NaN, "operation": 1, "operation": 2, "count": "3"}',
            ["json ", "json ", "/count"],
        ),
    ],
)
def test_a_value_that_readers_understand_differently_does_not_hide_the_rest(
    here: Path, text: str, expected: list[str]
) -> None:
    (here / "header.json").write_text(text)
    found = [f for f in Document("header.json", "header", "lro-6400").findings() if f.kind is not Kind.MISSING_FIELD]
    assert [f"{f.rule} {f.pointer}" if f.rule == "json" else f.pointer for f in found] == expected
