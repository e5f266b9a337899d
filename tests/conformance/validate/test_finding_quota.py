"""Findings behind those that are shown: they are not made, and what is shown and counted is as if they were."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lro_conformance.validate.document import Document
from lro_conformance.validate.finding_quota import FindingQuota
from lro_conformance.validate.output import FindingsPrinter
from lro_spec.findings import Finding, Kind
from tests.support.offloads import FAULTS, NAME, descriptor

_MORE = [
    lambda lines, at: lines.__setitem__(at, lines[at][:-9] + b'"\\ud800"}'),
    lambda lines, at: lines.__setitem__(at, b'{"id": "a", "score": 1e400, "id": "b"}'),
    lambda lines, at: lines.__setitem__(at, b'{"id": "long", "t": 1, "t": ' + b"[" * 501 + b"]" * 501 + b"}"),
    lambda lines, at: lines.__setitem__(at, b"[" * 99_999),
    lambda lines, at: lines.__setitem__(at, b"[" + lines[at] + b"]"),
]


def told(path: Path, most: int | None, edition: str, *, follow: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    out = io.StringIO()
    printer = FindingsPrinter("json", out, most, quiet=True)
    printer.add(Document(str(path), None, edition, follow=follow))
    printer.end()
    made = json.loads(out.getvalue())
    return made.pop("findings"), made


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(n, marks=pytest.mark.long) for n in range(4, 12))])
def test_what_is_shown_and_counted_does_not_depend_on_how_much_is_shown(tmp_path: Path, seed: int):
    random = Random(seed)
    value = descriptor(tmp_path)
    if seed == 0:
        value["line_schema"] = {"properties": {"title": {"pattern": "^Alpha"}}}  # judged in batches, by a child
    if seed % 4 == 1:
        value["summary"]["count"] = 3
    file, where = tmp_path / NAME, tmp_path / "descriptor.json"
    lines = file.read_bytes().split(b"\n")[:-1]
    for _ in range(random.choice([30, 100, 300])):
        random.choice([*FAULTS, *_MORE])(lines, random.randrange(1, len(lines)))
    file.write_bytes(b"\n".join(lines) + b"\n" * random.randrange(2))
    where.write_text(json.dumps(value))
    edition = random.choice(["lro-6400", "lro-paper"])
    for path, follow in ((file, False), (where, True)):
        every, whole = told(path, None, edition, follow=follow)
        assert Counter(finding["rule"] for finding in every) == whole["rules"]
        for most in (1, 20) if seed else (20,):
            shown, made = told(path, most, edition, follow=follow)
            best = sorted(every, key=lambda f: (f["severity"] != "error", _place(f, path)))[:most]
            assert shown == sorted(best, key=lambda f: _place(f, path))
            assert {**made, "shown": 0} == {**whole, "shown": 0}


def _place(finding: dict[str, Any], path: Path) -> tuple[str, int, int]:
    """In the order of documents, what a descriptor leads to after itself."""
    inner = "" if finding["path"] == str(path) else finding["path"]
    return inner, finding["line"] or 0, finding["column"] or 0


def test_memory_does_not_grow_with_the_number_of_findings(tmp_path: Path) -> None:
    cap = FindingQuota(4)

    def found() -> Iterator[Finding]:
        for line in range(100_000):
            yield Finding("LRO-FILE-11", Kind.WRONG_TYPE, "/title", "wrong", "", "", line=line)

    tracemalloc.start()
    cap.add(Document(str(tmp_path / NAME), "file", "lro-6400"), found())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [finding.line for _, finding in cap.ready()] == [0, 1, 2, 3]
    assert peak < 2_000_000


def test_an_error_is_shown_however_many_warnings_come_before_it(tmp_path: Path):
    descriptor(tmp_path)
    file = tmp_path / NAME
    first, *rest = file.read_bytes().splitlines(keepends=True)
    halved = [line[:-2] + b', "x": "\\ud800"}\n' for line in rest]
    file.write_bytes(first + b"".join(halved) + b"{\n")
    shown, summary = told(file, 2, "lro-6400", follow=False)
    assert [(f["line"], f["severity"]) for f in shown] == [(2, "warning"), (len(rest) + 2, "error")]
    assert summary["counts"] == {"error": 1, "warning": len(rest)}
