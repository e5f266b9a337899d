"""Servers that do not start with every value of a setting: what stands for a threshold of 1, and what does not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import MAX_THRESHOLD, USUAL_LIMIT, AcceptedThresholds
from lro_conformance.profile import profile_for_command
from lro_conformance.trials.survey import Survey
from tests.golden.evidence import evidence

CAREFUL = """\
import json, os, sys
value = os.environ.get("ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS", "6400")
with open({starts!r}, "a") as file:
    print(value, file=file)
if {refused}:
    sys.exit({words!r})
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        told = {{"protocolVersion": "2025-11-25", "capabilities": {{}}, "serverInfo": {{"name": "x", "version": "1"}}}}
    else:
        told = {{"tools": []}}
    if "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": told}}), flush=True)
"""


WORDS = ["a threshold of 1 is refused", "invalid configuration", "No module named 'notes'", ""]
"""Words with which a server may exit: whether it refuses a value is decided by other values, not by them."""


def started(folder: Path, refused: str, words: str = "invalid configuration") -> tuple[Report, list[str]]:
    """A run on a server without tools, and the thresholds that it was started with."""
    starts = folder / "starts"
    server = folder / "server.py"
    server.write_text(CAREFUL.format(starts=str(starts), refused=refused, words=words), encoding="utf-8")
    report = certify(profile_for_command([sys.executable, str(server)]))
    return report, starts.read_text().split()


@pytest.mark.parametrize("words", WORDS)
def test_the_lowest_threshold_that_is_taken_stands_for_one(tmp_path: Path, words: str) -> None:
    report, starts = started(tmp_path, "int(value) < 200", words)
    assert starts[:8] == ["1", "2048", "1", "16", "64", "128", "256", "256"]
    assert any("rejects a threshold of 1; of the tried values, 256 is the lowest" in note for note in report.notes)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("refused", ["True", "int(value) < 4000"])
def test_a_server_that_starts_with_none_of_them_is_told_of_by_its_first_word(
    tmp_path: Path, refused: str, words: str
) -> None:
    report, starts = started(tmp_path, refused, words)
    assert starts == ["1", "2048"]
    assert report.failure is not None
    assert report.failure.endswith(f"its stderr ends: {words}" if words else "before it answered")


def test_a_start_that_failed_by_chance_is_no_refusal(tmp_path: Path) -> None:
    """The first start fails, and later ones with the same threshold do not."""
    report, starts = started(tmp_path, f"open({str(tmp_path / 'starts')!r}).read() == '1\\n'")
    assert starts[:4] == ["1", "2048", "1", "1"]
    assert not any("is rejected" in note for note in report.notes)
    assert any("a start of the server failed" in note and "invalid configuration" in note for note in report.notes)


@pytest.mark.parametrize(
    ("most", "highest", "tried"),
    [
        (200_000, 200_000, [100_000, MAX_THRESHOLD, 1_000_000, 200_000]),
        (150_000, 100_000, None),
        (MAX_THRESHOLD, MAX_THRESHOLD, None),
    ],
)
def test_the_highest_threshold_that_is_taken(most: int, highest: int, tried: list[int] | None) -> None:
    accepted, starts = AcceptedThresholds(), list[int]()
    assert accepted.find_highest(lambda t: bool(starts.append(t) or t <= most))
    assert accepted.highest == highest
    assert tried in (None, starts)


def test_a_server_that_does_not_start_any_more_is_started_once_for_a_lower_threshold() -> None:
    accepted, starts = AcceptedThresholds(), list[int]()
    assert not accepted.find_highest(lambda t: bool(starts.append(t)))
    assert (accepted.highest, starts) == (MAX_THRESHOLD, [100_000])


def test_one_that_takes_anything_is_started_once_for_it(tmp_path: Path) -> None:
    report, starts = started(tmp_path, "False")
    assert starts.count("1") == len(starts)
    assert not any("lowest" in note for note in report.notes)


def test_few_records_are_asked_for_at_a_level_of_which_many_exceed_the_lowest_threshold() -> None:
    accepted = AcceptedThresholds()
    sizes = {("recall", "light"): 500, ("recall", "medium"): 1600, ("recall", "full"): 4000, ("search", "light"): 1400}
    accepted.choose_details({**sizes, ("search", None): None})
    assert accepted.arguments_of_offloading_call("recall", 5) == {"limit": 5}
    accepted.lowest = 1000
    accepted.choose_details({**sizes, ("search", None): None})
    assert accepted.detail_by_operation == {"recall": "medium", "search": "light"}
    assert accepted.arguments_of_offloading_call("recall", 5) == {"detail": "medium", "limit": USUAL_LIMIT - 5}
    assert accepted.arguments_of_offloading_call("recall", USUAL_LIMIT) == {"detail": "medium", "limit": USUAL_LIMIT}
    assert accepted.arguments_of_offloading_call("inject", 5) == {"limit": 5}


def test_a_threshold_is_within_what_is_taken() -> None:
    accepted = AcceptedThresholds(16, 1000)
    assert [accepted.nearest(t) for t in (1, 16, 500, MAX_THRESHOLD)] == [16, 16, 500, 1000]
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
