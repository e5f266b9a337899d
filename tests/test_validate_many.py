"""`lro validate` on several documents: what is shown of all their findings, and how they are summed up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.test_validate_command import BAD, GOOD, HEADER, NAME, here, lines, said

__all__ = ["here", "said"]  # fixtures

WRONG = lines({**HEADER, "count": 24}, *({"id": n} for n in range(24)))
"""With 24 errors."""


def severities(said: Any, *arguments: str) -> list[str]:
    return [finding["severity"] for finding in json.loads(said("--format", "json", *arguments)[1])["findings"]]


@pytest.mark.parametrize(("most", "errors", "warnings"), [(2, 2, 0), (24, 24, 0), (26, 24, 2), (100, 24, 76)])
def test_errors_of_the_last_document_are_shown_before_warnings_of_the_first(
    here: Path, said: Any, most: int, errors: int, warnings: int
):
    for n in range(101):
        (here / f"lro-{n:03}.jsonl").write_bytes(GOOD)  # renamed, which is a warning
    (here / NAME.replace("atlatl", "z")).write_bytes(WRONG)
    shown = severities(said, "--max-findings", str(most), ".")
    assert shown == ["warning"] * warnings + ["error"] * errors  # in the order of the documents


def test_errors_before_a_warning_are_shown_while_other_documents_are_read(here: Path, said: Any):
    (here / "a.jsonl").write_bytes(b"\n".join([BAD.strip()] * 2))
    (here / NAME).write_bytes(WRONG)
    assert severities(said, "--max-findings", "4", NAME, "a.jsonl") == ["error"] * 4
    assert severities(said, "--max-findings", "4", "a.jsonl", NAME) == ["error"] * 4


@pytest.mark.parametrize("most", ["0", "1", "2", "100"])
def test_documents_are_counted_as_wrong_whatever_is_shown(here: Path, said: Any, most: str):
    for name in ("a", "b"):
        (here / name).mkdir()
        (here / name / NAME).write_bytes(lines({**HEADER, "count": 9}, *({"id": n} for n in range(9))))
    assert ", in 2 of 2 documents: 2 files" in said("--max-findings", most, ".")[1]
