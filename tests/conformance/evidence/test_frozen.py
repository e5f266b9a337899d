"""Evidence that an earlier version recorded, of servers of every chapter, is judged as that version judged it.

Every fifth recording is judged each time, the others with ``--long``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lro_conformance.engine.judgement import judge_again
from lro_conformance.evidence.reader import read
from tests.support.archives import unpack
from tests.support.frozen import EVIDENCE, as_frozen, frozen_standings, standing

KEPT = [path.name.removesuffix(".tar.xz") for path in sorted(EVIDENCE.glob("*.tar.xz"))]
ALWAYS = KEPT[::5]


@pytest.mark.parametrize("name", [n if n in ALWAYS else pytest.param(n, marks=pytest.mark.long) for n in KEPT])
def test_recorded_evidence_is_judged_as_it_was(tmp_path: Path, name: str) -> None:
    unpack(EVIDENCE / f"{name}.tar.xz", tmp_path)
    found = standing(judge_again(read(tmp_path / name)).to_dict())
    assert as_frozen(found, name) == frozen_standings()[name]


def test_there_is_evidence_of_many_chapters() -> None:
    assert len(KEPT) >= 10
