"""Servers that do not start with every value of a setting: what stands for a threshold of 1, and what does not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import LIMIT, NEVER, AcceptedThresholds
from lro_conformance.profile import profile_for_command
from lro_conformance.trials.survey import Survey
from tests.golden.evidence import evidence

CAREFUL = """\
import json, os, sys
value = os.environ.get("ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS", "6400")
with open({starts!r}, "a") as file:
    print(value, file=file)
if {refused}:
    sys.exit(f"a threshold of {{value}} is refused")
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        told = {{"protocolVersion": "2025-11-25", "capabilities": {{}}, "serverInfo": {{"name": "x", "version": "1"}}}}
    else:
        told = {{"tools": []}}
    if "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": told}}), flush=True)
"""


def started(folder: Path, refused: str) -> tuple[Report, list[str]]:
    """A run on a server without tools, and the thresholds that it was started with."""
    starts = folder / "starts"
    server = folder / "server.py"
    server.write_text(CAREFUL.format(starts=str(starts), refused=refused), encoding="utf-8")
    report = certify(profile_for_command([sys.executable, str(server)]))
    return report, starts.read_text().split()


def test_the_lowest_threshold_that_is_taken_stands_for_one(tmp_path: Path) -> None:
    report, starts = started(tmp_path, "int(value) < 200")
    assert starts[:7] == ["1", "2048", "16", "64", "128", "256", "256"]
    assert any("a threshold of 1 is rejected; 256 is the lowest" in note for note in report.notes)


@pytest.mark.parametrize("refused", ["True", "int(value) < 4000"])
def test_a_server_that_starts_with_none_of_them_is_told_of_by_its_first_word(tmp_path: Path, refused: str) -> None:
    report, starts = started(tmp_path, refused)
    assert starts == ["1", "2048"]
    assert report.failure is not None
    assert "a threshold of 1 is refused" in report.failure


def test_one_that_takes_anything_is_started_once_for_it(tmp_path: Path) -> None:
    report, starts = started(tmp_path, "False")
    assert starts.count("1") == len(starts)
    assert not any("lowest" in note for note in report.notes)


def test_few_records_are_asked_for_at_a_level_of_which_many_exceed_the_lowest_threshold() -> None:
    accepted = AcceptedThresholds()
    sizes = {("recall", "light"): 500, ("recall", "medium"): 1600, ("recall", "full"): 4000, ("search", "light"): 1400}
    accepted.learn({**sizes, ("search", None): None})
    assert accepted.smallest_offloading_call("recall", 5) == {"limit": 5}
    accepted.lowest = 1000
    accepted.learn({**sizes, ("search", None): None})
    assert accepted.details == {"recall": "medium", "search": "light"}
    assert accepted.smallest_offloading_call("recall", 5) == {"detail": "medium", "limit": LIMIT - 5}
    assert accepted.smallest_offloading_call("recall", LIMIT) == {"detail": "medium", "limit": LIMIT}
    assert accepted.smallest_offloading_call("inject", 5) == {"limit": 5}


def test_a_threshold_is_within_what_is_taken() -> None:
    accepted = AcceptedThresholds(16, 1000)
    assert [accepted.within(t) for t in (1, 16, 500, NEVER)] == [16, 16, 500, 1000]
    assert "threshold_tokens" not in Settings().values(accepted)


SEEN: Survey = evidence(None, {})["survey"]
SHOWN: Survey = evidence(-1, {}, inline=True)["survey"]


@pytest.mark.parametrize(("lowest", "small"), [(1, False), (64, False), (300, True)])
def test_a_result_that_may_be_within_the_lowest_threshold_is_small(lowest: int, small: bool) -> None:
    """Six records of 1,555 characters together, of which any estimate makes more than 64 tokens."""
    shown = replace(SHOWN, lowest=lowest)
    assert shown.is_small(shown.whole["recall", None]) is small
    assert shown.implemented is (None if small else False)
    assert not replace(SEEN, lowest=lowest).is_small(SEEN.whole["recall", None])
    assert replace(SEEN, lowest=lowest).implemented is True


def test_above_one_it_takes_effect_where_many_are_offloaded() -> None:
    seen = replace(SEEN, tiny={}, repeats={**SEEN.repeats, "search": SHOWN.repeats["recall"]})
    assert (seen.effective, replace(seen, lowest=16).effective) == ([], ["recall", "inject"])
