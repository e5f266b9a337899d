"""What a proxy offloads are seldom memories: such files are judged by what holds for any, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from lro_conformance.cli.main import main
from lro_proxy import Interceptor
from lro_reference.settings import from_environment
from lro_spec.findings import Finding
from lro_spec.validation import follow, validate_descriptor, validate_file, validate_header

Lines = list[dict[str, Any]]

ROWS = [{"id": n % 9, "name": f"row {n % 7}", "type": "x", "tags": [1, n], "price": n / 3} for n in range(200)]
OF_MEMORIES = {"LRO-NAME-02", "LRO-DESC-05", "LRO-REC-13"}


def offloaded(folder: Path, value: object, tool: str) -> dict[str, Any]:
    settings = replace(from_environment(), output_dir=str(folder), threshold_tokens=50)
    return Interceptor(settings)(value, operation=tool)


def errors(found: list[Finding]) -> list[str]:
    return [finding.rule for finding in found if finding.severity == "error"]


@pytest.mark.parametrize(
    ("value", "tool"),
    [
        (ROWS, "list_rows"),
        (ROWS, "search"),
        ([[1, 2, n] for n in range(200)], "matrix"),
        ("\n".join(f"line {n}" for n in range(300)), "read-file"),
    ],
)
def test_what_the_proxy_writes_is_not_accused(tmp_path: Path, value: object, tool: str):
    descriptor = offloaded(tmp_path, value, tool)
    assert list(follow(descriptor)) == []
    (path,) = tmp_path.iterdir()
    assert list(validate_file(path)) == []
    header = json.loads(path.read_bytes().partition(b"\n")[0])
    assert list(validate_header(header)) == []


def test_by_itself_its_descriptor_is_warned_of_what_only_the_file_can_tell(tmp_path: Path):
    found = list(validate_descriptor(offloaded(tmp_path, ROWS, "list_rows")))
    assert errors(found) == []
    assert {finding.rule for finding in found} <= OF_MEMORIES


CHANGES: list[tuple[Callable[[Lines], object], str]] = [
    (lambda lines: lines.pop(), "LRO-FILE-06"),
    (lambda lines: lines[0].update(operation="other"), "LRO-NAME-02"),
    (lambda lines: lines[0].update(timestamp="2001-01-01T00:00:00Z"), "LRO-NAME-03"),
    (lambda lines: lines[3].update(type="lro_header"), "LRO-FILE-02"),
    (lambda lines: lines[9].update(name=3), "LRO-DESC-09"),
    (lambda lines: lines.__setitem__(4, cast("Any", [])), "LRO-FILE-01"),
    # Whoever only says that the version is 0 has memories, and these are none.
    (lambda lines: lines[0].pop("extra"), "LRO-FILE-11"),
]


@pytest.mark.parametrize(("change", "rule"), CHANGES)
def test_what_holds_for_any_file_is_found(tmp_path: Path, change: Callable[[Lines], object], rule: str):
    descriptor = offloaded(tmp_path, ROWS, "list_rows")
    path = Path(descriptor["file_path"])
    lines: Lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert rule in errors(list(follow(descriptor)))


def test_the_summary_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    descriptor = offloaded(tmp_path, ROWS, "list_rows")
    (tmp_path / "d.json").write_text(json.dumps(descriptor))
    assert main(["validate", descriptor["file_path"]]) == 0
    assert main(["validate", "--follow", str(tmp_path / "d.json")]) == 0
    said = "1 file (201 lines); 1 file of records that are not memories\n"
    assert capsys.readouterr().out == f"nothing wrong: {said}nothing wrong: 1 descriptor, {said}"
