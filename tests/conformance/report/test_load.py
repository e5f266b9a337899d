"""A report read back is the report that was written; what is none is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import Report
from lro_conformance.report.formats.json import to_json, write_json
from lro_conformance.report.load import parse_report, read_report
from tests.support.paths import DATA
from tests.support.report_samples import hostile, mixed, report

STORED = sorted((DATA / "reports").glob("*.json"))


@pytest.mark.parametrize("made", [mixed(), report(failure="exit code 1"), hostile()])
def test_is_the_same_after_a_journey_through_json(made: Report, tmp_path: Path):
    write_json(made, tmp_path / "r.json")
    assert to_json(read_report(tmp_path / "r.json")) == to_json(made)


@pytest.mark.parametrize("path", STORED, ids=lambda p: p.stem)
def test_a_stored_report_of_this_release_stays_readable(path: Path):
    made = read_report(path)
    assert json.loads(to_json(made)) == json.loads(path.read_bytes())
    assert all(r.requirement.statement and r.requirement.fix for r in made.requirements)


def test_keys_and_requirements_of_a_later_release_do_not_disturb():
    value: dict[str, Any] = mixed().to_dict()
    value["weather"] = "fine"
    value["edition"] = "lro-9000"
    value["requirements"][0] |= {"id": "LRO-NEW-01", "colour": "green"}
    del value["timeline"], value["notes"], value["hardening"], value["failure"]
    made = parse_report(value)
    assert (made.requirements[0].requirement.id, made.requirements[0].requirement.fix) == ("LRO-NEW-01", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a report"),
        ("[", "expected a report"),
        ("[]", "not a report; expected a report of `lro certify --json`"),
        ("{}", "not a report; expected a report of `lro certify --json`"),
        ('{"format": "lro-report/1"}', "/counts: expected a field"),
        (json.dumps(mixed().to_dict() | {"format": "lro-report/2"}), '/format: expected "lro-report/1"'),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(text: str, says: str, tmp_path: Path):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(UsageError) as refused:
        read_report(tmp_path / "r.json")
    assert says in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "r.json"))
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"none\.json: cannot be read: No such file"):
        read_report(tmp_path / "none.json")
