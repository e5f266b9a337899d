"""One capture judged by every edition: at once, and from what was kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lro_conformance.cli.certify import BUDGETS
from lro_conformance.cli.main import main
from lro_spec.editions import EDITIONS
from tests.servers.variants import profile_text

FAILED = {
    "lro-6400": set[str](),
    "lro-1600": {"LRO-REC-04", "LRO-THR-01", *(f"LRO-REC-{n}" for n in (14, 15, 16, 17, 18, 19))},
    "lro-paper": {"LRO-THR-01", "LRO-NAME-02"},
}
"""What a server of the default edition misses by the others, and nothing else."""


def failed(path: Path) -> tuple[str, set[str]]:
    report = json.loads(path.read_text(encoding="utf-8"))
    return report["edition"], {r["id"] for r in report["requirements"] if r["verdict"] == "fail"}


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder = tmp_path_factory.mktemp("all")
    (folder / "lro.yaml").write_text(profile_text(), encoding="utf-8")
    arguments = [
        "--edition",
        "all",
        "--json",
        str(folder / "r.json"),
        "--evidence",
        str(folder / "kept"),
        "--seed",
        "1",
        "--budget",
        "quick",
    ]
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--long"):
            patch.setitem(BUDGETS, "quick", 0)  # each edition judges all that is explored, which takes most of the time
        return folder, main(["certify", "--profile", str(folder / "lro.yaml"), *arguments, "-q"])


def test_one_run_is_judged_by_each_edition(run: tuple[Path, int]):
    folder, code = run
    assert code == 0, "the profile's own edition decides"
    found = dict(failed(p) for p in (folder / "r.json", folder / "r.lro-1600.json", folder / "r.lro-paper.json"))
    assert found == FAILED


@pytest.mark.long
@pytest.mark.parametrize("edition", EDITIONS)
def test_what_was_kept_is_judged_by_any_edition(run: tuple[Path, int], tmp_path: Path, edition: str):
    code = main(["judge", "--edition", edition, "--json", str(tmp_path / "r.json"), str(run[0] / "kept"), "-q"])
    assert failed(tmp_path / "r.json") == (edition, FAILED[edition])
    assert code == (0 if edition == "lro-6400" else 1)


def test_judging_by_all_shows_the_first_in_full_and_the_others_in_short(
    run: tuple[Path, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    json = ["--json", str(tmp_path / "r.json")]
    assert main(["judge", "--edition", "all", "--level", "1", "--plain", *json, str(run[0] / "kept")]) == 0
    names = ("r.json", "r.lro-1600.json", "r.lro-paper.json")
    assert dict(failed(tmp_path / name) for name in names) == FAILED, "from what was kept as in the run itself"
    shown = capsys.readouterr().out
    assert shown.count("(claimed: level 1)") == 1, "a claim is made by one edition, as in the run itself"
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("edition ")] == list(EDITIONS)
    assert shown.count("Deciding no level") == 1
    assert shown.index("edition         lro-6400") < shown.index("failed by LRO-THR-01, LRO-NAME-02")


def test_an_edition_that_there_is_not_is_refused(run: tuple[Path, int], capsys: pytest.CaptureFixture[str]):
    assert main(["judge", "--edition", "lro-7", str(run[0] / "kept")]) == 2
    assert "lro-6400, lro-1600, lro-paper" in capsys.readouterr().err
