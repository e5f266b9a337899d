"""The extension group `extraction` on the tools of this package: all of it passes, and is judged again from evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from lro_conformance.engine import certify, judge_again
from lro_conformance.evidence.reader import read
from lro_conformance.profile import Profile
from lro_conformance.reading_tools import listed
from lro_spec.requirements import catalogue

GROUP = {r.id for r in catalogue() if r.group == "extraction"}


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param("extract,virtual,scratchpad,compaction", marks=[pytest.mark.long, pytest.mark.timeout(400)]),
        "extract",
    ],
)
def test_the_tools_of_this_package_pass_and_are_judged_again(tools: str, tmp_path: Path) -> None:
    profile = Profile.for_command(["lro", "serve", "--tools", tools])
    kept = tmp_path / "evidence"
    report = certify(profile, seed=1, jobs=2, only=GROUP, examples=0, evidence=kept)
    assert report.extensions["extraction"] == "pass"
    verdicts = {r.requirement.id: r.verdict for r in report.requirements if r.requirement.id in GROUP}
    again = judge_again(read(kept))
    assert verdicts == {r.requirement.id: r.verdict for r in again.requirements if r.requirement.id in GROUP}


def entry(name: str, *properties: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object", "properties": dict.fromkeys(properties, {})}}


def test_a_tool_is_known_by_its_name_and_its_arguments() -> None:
    tools = [entry("mem.lro_extract", "file_path", "query"), entry("read_large_output", "id"), {"name": "schema"}]
    assert {name: one.name for name, one in listed(tools).items()} == {"lro_extract": "mem.lro_extract"}


def test_common_names_count_beside_a_telling_one_only() -> None:
    common = [entry("grep", "file", "pattern"), entry("read", "file"), entry("head", "file", "lines")]
    assert listed(common) == {}
    assert set(listed([*common, entry("get_in", "file", "path")])) == {"grep", "read", "head", "get_in"}
