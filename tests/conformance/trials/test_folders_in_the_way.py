"""Cleanup that trips over, or deletes, a folder with the name of a result: the script of the finding plants it."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import CheckResult
from lro_conformance.judging.verdicts import Verdict
from tests.servers.variants import command, profile_text

FOLDER = re.compile(r"^d.* atlatl-recall-\w{26}\.jsonl$", re.MULTILINE)
FILE = re.compile(r"^-.* atlatl-recall-\w{26}\.jsonl$", re.MULTILINE)


def failed(path: Path, profile: str, requirement: str) -> tuple[CheckResult, str]:
    """The first check of a requirement that fails, and what its script prints."""
    path = path / "lro.yaml"
    path.write_text(profile)
    report = certify(profiles.load(path), only={requirement}, examples=0, seed=1)
    found = next(c for r in report.requirements for c in r.checks if c.verdict is Verdict.FAIL)
    done = subprocess.run(["bash", "-c", found.reproduce], capture_output=True, text=True, timeout=60, check=False)
    return found, done.stdout


def listing(printed: str) -> str:
    """The list of the output folder at the end of what a script prints."""
    return printed[printed.rfind("total ") :]


def test_the_script_plants_the_folder_over_which_cleanup_trips(tmp_path: Path) -> None:
    found, printed = failed(tmp_path, profile_text("cleanup_dies_of_a_folder"), "LRO-CLN-01")
    assert "(a folder)" in found.expected
    assert FOLDER.search(listing(printed))
    assert FILE.search(listing(printed)), "no expired file is left"


def test_the_script_starts_the_server_in_a_folder_that_stops_its_cleanup(tmp_path: Path) -> None:
    script = tmp_path / "server.sh"
    script.write_text(
        'for f in "$ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR"/atlatl-*.jsonl; do\n'
        '  [ ! -d "$f" ] || export ATLATL_PROMPT__OFFLOAD__TTL_SECONDS=99999999\n'
        f"done\nexec {shlex.join(command('cleans_up_at_start'))}\n"
    )
    sections = f"server: {{command: [sh, {script}]}}\ncleanup: {{restart: true}}\n"
    found, printed = failed(tmp_path, profile_text(sections=sections), "LRO-CLN-01")
    assert "(a folder)" in found.expected
    assert FOLDER.search(listing(printed))
    assert FILE.search(listing(printed)), "no expired file is left"


def test_the_script_shows_the_deletion_of_an_old_folder(tmp_path: Path) -> None:
    found, printed = failed(tmp_path, profile_text("deletes_old_folders_of_such_names"), "LRO-HARD-04")
    planted = re.findall(r"mkdir -p \S+(atlatl-recall-\w{26}\.jsonl)", found.reproduce)
    assert planted
    assert [name for name in planted if name in listing(printed)] == []


def test_the_script_shows_the_deletion_of_a_file_in_a_linked_folder(tmp_path: Path) -> None:
    _, printed = failed(tmp_path, profile_text("walks_into_linked_folders"), "LRO-HARD-05")
    assert re.search(r'"OffloadFileExpired", "path": "[^"]*/shortcut/', printed)
