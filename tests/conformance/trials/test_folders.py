"""A threshold of 0, which is set in the folder with the awkward name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from tests.servers.variants import profile_text


@pytest.mark.parametrize(
    ("server", "found"),
    [
        (None, ("pass", "pass", "as expected in 3 of 3")),
        ("takes_zero_for_no_threshold", ("warn", "warn", "inline (3 of 3 subjects)")),
        ("refuses_a_threshold_of_0", ("pass", "not-observed", "the server was not observed with a threshold of 0")),
    ],
)
def test_a_threshold_of_0_is_one_and_what_takes_it_for_none_is_warned(
    tmp_path: Path, server: str | None, found: tuple[str, str, str]
) -> None:
    (tmp_path / "lro.yaml").write_text(profile_text() if server is None else profile_text(server), encoding="utf-8")
    report = certify(profiles.load(tmp_path / "lro.yaml"), seed=1, only={"LRO-CFG-02"}, examples=0)
    (result,) = (r for r in report.requirements if r.requirement.id == "LRO-CFG-02")
    (check,) = (c for c in result.checks if c.name == "config.zero_is_a_threshold")
    assert (result.verdict.label, check.verdict.label, check.observed) == found
