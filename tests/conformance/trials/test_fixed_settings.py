"""Settings that a flag of the server's command fixes: nothing is blamed on the server, and messages name the flag."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.profile import profile_for_command
from lro_conformance.report.exit_code import exit_code
from tests.servers.variants import command, profile_text

FLAGGED = """\
import os, sys
words = [word for argument in sys.argv[1:] for word in argument.split("=", 1)]
for flag, value in zip(words, words[1:]):
    setting = flag.removeprefix("--lro").strip("-").replace("-", "_").upper()
    if flag.startswith("--"):
        os.environ[f"ATLATL_PROMPT__OFFLOAD__{{setting}}"] = value
os.execv(sys.executable, {command!r})
"""
"""A conformant server whose flags have precedence over the variables."""


def flagged(folder: Path, *flags: str) -> list[str]:
    server = folder / "server.py"
    server.write_text(FLAGGED.format(command=command()), encoding="utf-8")
    return [sys.executable, str(server), *flags]


def run(folder: Path, *flags: str, sections: str = "", only: set[str] | None = None, examples: int = 0) -> Report:
    words = ", ".join(f'"{word}"' for word in flagged(folder, *flags))
    path = folder / "lro.yaml"
    path.write_text(profile_text(sections=f"server: {{command: [{words}]}}\n{sections}"), encoding="utf-8")
    return certify(profiles.load(path), seed=1, examples=examples, only=only)


def messages(report: Report) -> dict[str, str]:
    """Everything that is said about the requirements without a verdict."""
    unseen = [r for r in report.requirements if r.verdict is Verdict.NOT_OBSERVED]
    return {r.requirement.id: "; ".join(c.observed for c in r.checks) for r in unseen}


def failures(report: Report) -> list[str]:
    return [r.requirement.id for r in report.requirements if r.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)]


WHOLE = ("--lro-threshold-tokens", "500", "LRO-CFG-02")
ALONE = [
    ("--ttl-seconds", "5", "LRO-CFG-03"),
    ("--output-dir", "{folder}", "LRO-CFG-04"),
    ("--enabled", "true", "LRO-CFG-01"),
]
"""Flags for which each time only their own requirement is judged, and all requirements with `--long`."""


@pytest.mark.parametrize(
    ("flag", "value", "unseen", "only"),
    [
        (*WHOLE, None),
        *((flag, value, unseen, {unseen}) for flag, value, unseen in ALONE),
        *(pytest.param(*row, None, marks=pytest.mark.long) for row in ALONE),
    ],
)
def test_what_a_flag_hides_is_told_with_its_name(
    tmp_path: Path, flag: str, value: str, unseen: str, only: set[str] | None
) -> None:
    (tmp_path / "out").mkdir()
    report = run(tmp_path, flag, value.format(folder=tmp_path / "out"), only=only, examples=int(only is None))
    assert failures(report) == []
    told = {id: said for id, said in messages(report).items() if only is None or id in only}
    assert unseen in told
    assert {i: m for i, m in told.items() if flag not in m} == {}
    assert any(note.startswith(f"{flag} in the server's command fixes ") for note in report.notes)


def test_a_threshold_that_a_flag_fixes_may_be_one_that_nothing_reaches(tmp_path: Path) -> None:
    report = certify(profile_for_command(flagged(tmp_path, "--threshold-tokens=1000000")), seed=1, examples=0)
    assert (failures(report), exit_code(report)) == ([], 3)
    assert report.failure is not None
    lines = report.failure.splitlines()
    assert lines[0].startswith(
        "no call returned a result that is surely above the threshold that --threshold-tokens fixes ("
    )
    assert lines[-1] == (
        "--threshold-tokens in the server's command fixes the threshold (leave it out, or name it in the profile: "
        "settings.threshold_tokens)"
    )


def test_a_flag_that_the_profile_names_is_given_a_value_again(tmp_path: Path) -> None:
    """The suite's own value comes last. Only the default is not in force, and the documented variable is overridden."""
    (tmp_path / "x").mkdir()
    ways = 'settings: {output_dir: {arg: "--output-dir={value}"}}\n'
    only = {"LRO-CFG-04", "LRO-CFG-05", "LRO-CFG-07"}
    report = run(tmp_path, f"--output-dir={tmp_path / 'x'}", sections=ways, only=only)
    verdicts = {r.requirement.id: r.verdict.label for r in report.requirements if r.requirement.id in only}
    assert verdicts == {"LRO-CFG-04": "pass", "LRO-CFG-05": "pass", "LRO-CFG-07": "pass"}
    (check,) = [c for r in report.requirements if r.requirement.id == "LRO-CFG-05" for c in r.checks]
    assert check.subjects == 3, "output_dir empty, once for each operation"
    (check,) = [c for r in report.requirements if r.requirement.id == "LRO-CFG-07" for c in r.checks]
    assert check.subjects == 1, "the threshold"


def test_documented_variables_are_not_seen_to_work_if_the_server_does_not_start_by_them(tmp_path: Path) -> None:
    """Its flags say nothing about the variables."""
    server = tmp_path / "needs_a_flag.py"
    server.write_text(
        "import os, sys\n"
        "given = [w.partition('=')[2] for w in sys.argv if w.startswith('--limit=')]\n"
        "if not given: sys.exit('usage: --limit=N')\n"
        "os.environ['ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS'] = given[-1]\n"
        f"os.execv(sys.executable, {command()!r})\n",
        encoding="utf-8",
    )
    path = tmp_path / "lro.yaml"
    text = f'server: {{command: ["{sys.executable}", "{server}"]}}\n'
    text += 'settings: {threshold_tokens: {arg: "--limit={value}"}, output_dir: {arg: "--out={value}"}}\n'
    path.write_text(profile_text(sections=text), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, only={"LRO-CFG-07"})
    assert messages(report)["LRO-CFG-07"].startswith("without the settings of its profile the server does not start: ")
