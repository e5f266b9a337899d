"""The extension group `proxy` on the proxy of this package: all of it passes, and it is judged again from evidence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lro_conformance.cli.main import main
from lro_conformance.errors import EXIT_NO_VERDICT
from tests.servers.variants import PROBE
from tests.support.proxying import ROOTS

BOTH = "server: {command: [x]}\nproxy: {command: [p, "


@pytest.mark.timeout(200)
def test_the_proxy_of_this_package_passes_and_is_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ROOTS)
    monkeypatch.chdir(tmp_path)
    # no tool of an operation is behind it, so nothing is said of the levels
    certified = main(["certify", "--json", "a.json", "--evidence", "e", "--", "lro", "proxy", "--", *PROBE])
    assert certified == main(["judge", "e", "--json", "b.json"]) == EXIT_NO_VERDICT
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first["extensions"] == second["extensions"] == {"proxy": "pass", "extraction": "not-applicable"}
    verdicts = [{r["id"]: r["verdict"] for r in report["requirements"]} for report in (first, second)]
    assert verdicts[0] == verdicts[1]
    assert {v for id, v in verdicts[0].items() if id.startswith("LRO-PROXY-")} == {"pass"}


@pytest.mark.long
@pytest.mark.timeout(200)
def test_so_does_the_one_for_several_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ROOTS)
    proxy = {"command": [sys.executable, "-m", "lro_proxy", "--config={upstream_config}"]}
    profile = tmp_path / "lro.yaml"
    profile.write_text(json.dumps({"server": {"command": PROBE}, "proxy": proxy}), encoding="utf-8")
    assert main(["certify", "--profile", str(profile), "--json", str(tmp_path / "a.json")]) == EXIT_NO_VERDICT
    assert json.loads((tmp_path / "a.json").read_text())["extensions"] == {
        "proxy": "pass",
        "extraction": "not-applicable",
    }


@pytest.mark.long
@pytest.mark.timeout(200)
def test_so_does_the_one_before_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ROOTS)
    proxy = {"command": [sys.executable, "-m", "lro_proxy", "--url={upstream_url}"]}
    profile = tmp_path / "lro.yaml"
    profile.write_text(json.dumps({"server": {"command": PROBE}, "proxy": proxy}), encoding="utf-8")
    assert main(["certify", "--profile", str(profile), "--json", str(tmp_path / "a.json")]) == EXIT_NO_VERDICT
    report = json.loads((tmp_path / "a.json").read_text())
    verdicts = {r["id"]: r["verdict"] for r in report["requirements"] if r["id"].startswith("LRO-PROXY-")}
    assert set(verdicts.values()) == {"pass"}


@pytest.mark.parametrize("rest", ["--, my-server]}", '"{upstream}", "--config={upstream_config}"]}', '"x{upstream}"]}'])
def test_a_proxy_without_the_place_of_its_server_is_one_line(
    rest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lro.yaml").write_text(BOTH + rest, encoding="utf-8")
    assert main(["certify", "--profile", str(tmp_path / "lro.yaml")]) == 2
    said = capsys.readouterr().err
    assert "lro.yaml:2: proxy.command: expected exactly one of {upstream} as an argument of its own" in said


def test_a_config_file_may_name_the_server(tmp_path: Path) -> None:
    (tmp_path / "lro.yaml").write_text(BOTH + '"--config={upstream_config}"]}', encoding="utf-8")
    assert main(["validate", str(tmp_path / "lro.yaml")]) == 0
