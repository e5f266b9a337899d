"""`lro validate` on several documents: what is shown of all their findings, and how they are summed up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.offloads import made
from tests.support.validating import BAD, GOOD, HEADER, NAME, here, lines, said

__all__ = ["here", "said"]  # fixtures

WRONG = lines({**HEADER, "count": 24}, *({"id": f"{n}", "tags": n} for n in range(24)))
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
        (here / name / NAME).write_bytes(lines({**HEADER, "count": 9}, *({"id": f"{n}", "tags": n} for n in range(9))))
    assert ", in 2 of 2 documents: 2 files" in said("--max-findings", most, ".")[1]


class TestFollowedFiles:
    """A file beside its descriptor is judged once, with it."""

    @staticmethod
    def folder(here: Path, *descriptors: str) -> None:
        (here / "out").mkdir()
        value = made(here / "out", lambda descriptor, lines: lines[3].update(tags=3))
        value["line_schema"]["properties"]["id"] = {"not": {"const": "m2"}}
        for name in descriptors:
            (here / "out" / name).write_text(json.dumps(value))

    @pytest.mark.parametrize("most", ["0", "1", "100"])
    @pytest.mark.parametrize("descriptors", [["descriptor.json"], ["a.json", "z.json", "y"]])
    def test_a_fault_of_the_file_is_found_once_and_that_of_both_with_each(
        self, here: Path, said: Any, descriptors: list[str], most: str
    ):
        self.folder(here, *descriptors)
        (here / "link").symlink_to(here / "out")
        paths = [f"link/{NAME}", *(f"out/{name}" for name in descriptors), "out"]
        told = json.loads(said("--follow", "--format", "json", "--max-findings", most, *paths)[1])
        assert told["rules"] == {"LRO-DESC-09": len(descriptors), "LRO-FILE-11": 1}
        assert told["documents"] == {"descriptor": len(descriptors), "file": 1}
        assert told["lines"] == 25

    def test_a_file_that_no_descriptor_leads_to_is_judged_by_itself(self, here: Path, said: Any):
        self.folder(here, "descriptor.json")
        value = json.loads((here / "out/descriptor.json").read_text())
        (here / "copy").mkdir()
        (here / "copy" / NAME).write_bytes((here / "out" / NAME).read_bytes())
        (here / "copy/descriptor.json").write_text(json.dumps({**value, "file_path": f"{here}/none"}))
        told = json.loads(said("--follow", "--format", "json", "out", "copy")[1])
        assert (told["rules"]["LRO-FILE-11"], told["documents"]["file"]) == (2, 2)  # each has its fault
        (here / "out" / f"more-{NAME}").symlink_to(NAME)
        told = json.loads(said("--follow", "--format", "json", "out", f"out/more-{NAME}")[1])
        assert told["rules"]["LRO-NAME-02"] == 1  # of the other name

    def test_without_follow_each_path_is_judged(self, here: Path, said: Any):
        self.folder(here, "descriptor.json")
        assert json.loads(said("--format", "json", "out")[1])["rules"] == {"LRO-FILE-11": 1}
