"""The extension group `extraction`: conformant tools pass, this package's too, also when judged from evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from lro_conformance.engine.judgement import judge_again
from lro_conformance.engine.run import certify
from lro_conformance.evidence.reader import read
from lro_conformance.profile import Profile, load, profile_for_command
from lro_conformance.trials.extensions.reading_tools import listed
from lro_spec.catalogue import catalogue
from tests.servers.extracting import PROFILE
from tests.servers.variants import profile_text

GROUP = {r.id for r in catalogue() if r.group == "extraction"}


def passes_twice(profile: Profile, folder: Path) -> None:
    report = certify(profile, seed=1, jobs=2, only=GROUP, examples=0, evidence=folder)
    assert report.extensions["extraction"] == "pass"
    verdicts = {r.requirement.id: r.verdict for r in report.requirements if r.requirement.id in GROUP}
    again = judge_again(read(folder))
    assert verdicts == {r.requirement.id: r.verdict for r in again.requirements if r.requirement.id in GROUP}


def test_sound_tools_pass_and_are_judged_again(tmp_path: Path) -> None:
    (tmp_path / "lro.yaml").write_text(profile_text("reads_its_files", PROFILE), encoding="utf-8")
    passes_twice(load(tmp_path / "lro.yaml"), tmp_path / "evidence")


@pytest.mark.long
@pytest.mark.timeout(400)
def test_so_do_those_of_this_package(tmp_path: Path) -> None:
    """Its patterns run for as long as they may: ten seconds each."""
    profile = profile_for_command(["lro", "serve", "--tools", "extract,virtual,scratchpad,compaction"])
    passes_twice(profile, tmp_path / "evidence")


def entry(name: str, *properties: str) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object", "properties": {name: {} for name in properties}}}


def test_a_tool_is_known_by_its_name_and_its_arguments() -> None:
    tools = [entry("mem.lro_extract", "file_path", "query"), entry("read_large_output", "id"), {"name": "schema"}]
    assert {name: one.name for name, one in listed(tools).items()} == {"lro_extract": "mem.lro_extract"}


def test_common_names_count_beside_a_telling_one_only() -> None:
    common = [entry("grep", "file", "pattern"), entry("read", "file"), entry("head", "file", "lines")]
    assert listed(common) == {}
    assert set(listed([*common, entry("get_in", "file", "path")])) == {"grep", "read", "head", "get_in"}
