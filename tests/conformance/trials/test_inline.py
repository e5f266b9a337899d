"""The calls that are made inline while the survey waits for files to settle."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.lab.lab import Lab
from lro_conformance.trials.survey import inline, survey
from lro_conformance.wire.workspace import Workspace
from tests.servers.variants import profile_text


@contextmanager
def _lab(folder: Path, *servers: str, trials: Collection[str]) -> Iterator[Lab]:
    path = folder / "lro.yaml"
    path.write_text(profile_text(*servers))
    with Workspace() as workspace:
        lab = Lab(profiles.load(path), workspace, lambda event: None, seed=1, trials=trials)
        try:
            yield lab
        finally:
            lab.close()


def test_inline_results_are_obtained_while_the_survey_waits(tmp_path: Path) -> None:
    """They have to be obtained again more than a second later, so two waits overlap."""
    with _lab(tmp_path, trials=("survey", "inline")) as lab:
        seen = survey(lab)
        assert set(lab.work_begun_ahead) == {"inline"}
        found = inline(lab, seen)
        assert lab.workspace.starts == 3
        assert max(c.started for c in found.calls) < min(c.started for c in found.elsewhere.values())
        again = inline(lab, seen)
        assert min(c.started for c in again.calls) > max(c.started for c in found.repeated.values())


@pytest.mark.parametrize(("servers", "trials"), [((), ("survey",)), (("knows_no_offloading",), ("survey", "inline"))])
def test_they_are_not_if_nobody_needs_them(tmp_path: Path, servers: tuple[str, ...], trials: tuple[str, ...]) -> None:
    """Neither in a run without that trial, nor if the server has offloaded nothing."""
    with _lab(tmp_path, *servers, trials=trials) as lab:
        survey(lab)
        assert lab.work_begun_ahead == {}
        assert set(lab.kept) == {"survey"}
