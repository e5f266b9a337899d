"""Settings: who wins, and what stops a start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lro_reference.__main__ import main
from lro_reference.settings import Settings, SettingsError, load

E = "ATLATL_PROMPT__OFFLOAD__"


def offload(argv: list[str] | None = None, environ: dict[str, str] | None = None) -> Settings:
    return load(argv or [], environ or {}).settings


def toml(folder: Path, text: str) -> str:
    path = folder / "config.toml"
    path.write_text(text)
    return str(path)


def test_defaults_are_those_of_the_specification() -> None:
    assert offload() == Settings(enabled=True, threshold_tokens=6400, ttl_seconds=3600, output_dir="")


def test_later_sources_win(tmp_path: Path) -> None:
    path = toml(tmp_path, "[prompt.offload]\nthreshold_tokens = 1\nttl_seconds = 2\nenabled = false\n")
    environ = {"ATLATL_CONFIG": path, f"{E}THRESHOLD_TOKENS": "10", f"{E}TTL_SECONDS": "20"}
    got = offload(["--threshold-tokens", "100"], environ)
    assert (got.threshold_tokens, got.ttl_seconds, got.enabled) == (100, 20, False)


def test_config_flag_wins_over_its_variable(tmp_path: Path) -> None:
    path = toml(tmp_path, "[prompt.offload]\nttl_seconds = 7\n[other]\nx = 1\n")
    assert offload(["--config", path], {"ATLATL_CONFIG": "/nowhere"}).ttl_seconds == 7


def test_every_documented_variable_is_read() -> None:
    environ = {
        f"{E}ENABLED": "false",
        f"{E}THRESHOLD_TOKENS": "0",
        f"{E}TTL_SECONDS": "0",
        f"{E}OUTPUT_DIR": "/x",
    }
    assert offload(environ=environ) == Settings(False, 0, 0, "/x")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("ON", True), ("no", False), ("0", False)])
def test_booleans_are_read_leniently(text: str, value: bool) -> None:
    assert offload(environ={f"{E}ENABLED": text}).enabled is value


def test_folder_is_absolute_and_empty_means_the_temporary_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert offload(["--output-dir", "out"]).folder == str(tmp_path / "out")
    assert offload(["--output-dir", "~/out"]).folder == os.path.expanduser("~/out")
    assert offload(environ={f"{E}OUTPUT_DIR": ""}).folder == str(tmp_path)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {f"{E}THRESHOLD_TOKENS": "-1"},
            "THRESHOLD_TOKENS must be a whole number from 0 to 18446744073709551615, not '-1'",
        ),
        ({f"{E}THRESHOLD_TOKENS": "many"}, "not 'many'"),
        ({f"{E}THRESHOLD_TOKENS": "1.5"}, "not '1.5'"),
        ({f"{E}THRESHOLD_TOKENS": ""}, "not ''"),
        ({f"{E}TTL_SECONDS": "1_000"}, "not '1_000'"),
        ({f"{E}TTL_SECONDS": "99999999999999999999"}, "must be a whole number"),
        ({f"{E}TTL_SECONDS": "²"}, "must be a whole number"),
        ({f"{E}ENABLED": "perhaps"}, "must be true or false, not 'perhaps'"),
        ({f"{E}OUTPUT_DIR": "/tmp/\udcff"}, "must be a path in valid Unicode"),
        ({f"{E}TRESHOLD_TOKENS": "1"}, f"did you mean {E}THRESHOLD_TOKENS?"),
        ({"ATLATL_CONFIG": "/nowhere/x.toml"}, "cannot read the configuration /nowhere/x.toml: No such file"),
    ],
)
def test_wrong_variable_is_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        offload(environ=environ)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[prompt.offload]\nthreshold = 1\n",
            "prompt.offload.threshold is not a setting; did you mean threshold_tokens?",
        ),
        ("[prompt.offload]\nzzz = 1\n", "there are enabled, threshold_tokens"),
        ("[prompt.offload]\nenabled = 2\n", "prompt.offload.enabled must be true or false, not 2"),
        ("[prompt.offload]\nttl_seconds = true\n", "must be a whole number from 0 to 18446744073709551615, not True"),
        ('[prompt.offload]\nthreshold_tokens = "5"\n', "must be without quotation marks, not '5'"),
        ('[prompt.offload]\nenabled = "false"\n', "must be without quotation marks, not 'false'"),
        ("[prompt.offload]\noutput_dir = 5\n", "must be a path"),
        ("[prompt]\noffload = 5\n", "[prompt.offload] must be a table"),
        ("prompt = [", "is not valid TOML"),
    ],
)
def test_wrong_toml_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    path = toml(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        offload(["--config", path])
    assert message in str(caught.value)
    assert path in str(caught.value)


def test_wrong_setting_stops_the_start_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ttl-seconds", "soon\nor later"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"lro serve: --ttl-seconds must be a whole number from 0 to {2**64 - 1}, not 'soon\\nor later'\n"
    )


def test_unusable_data_folder_stops_the_start_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["--data", str(tmp_path / "file")]) == 2
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "memories.sqlite3").write_text("no database, but long enough to be read as one\n" * 40)
    assert main(["--data", str(tmp_path / "broken")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert all(line.startswith("lro serve: cannot use the data folder ") for line in said)


def test_data_folder_follows_flag_variable_and_xdg() -> None:
    environ = {"XDG_DATA_HOME": "/xdg"}
    assert load([], environ).data == "/xdg/lro-reference"
    assert load([], {**environ, "ATLATL_DATA_DIR": "/env"}).data == "/env"
    assert load(["--data", "/flag"], {**environ, "ATLATL_DATA_DIR": "/env"}).data == "/flag"


def test_demo_can_be_left_out() -> None:
    assert load([], {}).demo
    assert not load(["--no-demo"], {}).demo
    assert not load([], {"ATLATL_DEMO": "false"}).demo
    assert load(["--demo"], {"ATLATL_DEMO": "false"}).demo
