"""What the suite knows of a server that is given by its command alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.profile import launch, load, profile_for_command


def test_reference_server_claims_level_3_and_keeps_its_memories_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    profile = profile_for_command(["lro", "serve"])
    assert (profile.level, profile.folder) == (3, tmp_path)
    assert profile.seed is not None
    assert profile.cleanup is not None
    started = launch(profile, {}, tmp_path)
    assert started.cwd == tmp_path
    assert started.env["ATLATL_DATA_DIR"] == ":memory:"
    assert started.env["ATLATL_CONFIG"] == ""
    assert "ATLATL_PROMPT__OFFLOAD__TTL_SECONDS" in started.unset


@pytest.mark.parametrize(
    ("arguments", "stores"),
    [
        ([], True),
        (["--data", ":memory:"], True),
        (["--data=:memory:", "--no-demo"], True),
        (["--data", "/home/me/memories"], False),
        (["--no-demo", "--data=memories"], False),
    ],
)
def test_nothing_is_stored_in_a_folder_that_the_command_names(arguments: list[str], stores: bool):
    profile = profile_for_command(["lro", "serve", *arguments])
    assert (profile.seed is not None) == stores
    assert profile.server.command == ("lro", "serve", *arguments)


def test_behind_the_proxy_it_claims_the_same_and_is_this_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    profile = profile_for_command(["lro", "proxy", "--estimator", "characters", "--", "lro", "serve"])
    assert (profile.level, profile.folder) == (3, tmp_path)
    assert profile.seed is not None
    assert profile.cleanup is not None
    assert profile.cleanup.restart
    own = (sys.executable, "-P", "-m", "lro_conformance")
    started = launch(profile, {}, tmp_path)
    assert started.argv == (*own, "proxy", "--estimator", "characters", "--", *own, "serve")
    kept = profile_for_command(["lro", "proxy", "--", "lro", "serve", "--data", "memories"])
    assert kept.seed is None


@pytest.mark.parametrize(
    "command",
    [
        *(["my-server"], ["/opt/bin/lro", "serve"], ["lro", "explain"], ["serve", "lro"]),
        *(["lro", "proxy", "--", "my-server"], ["lro", "proxy", "--"], ["my-proxy", "--", "lro", "serve"]),
    ],
)
def test_nothing_is_stored_in_any_other_server(command: list[str]):
    profile = profile_for_command(command)
    assert (profile.seed, profile.cleanup, profile.level, dict(profile.server.env)) == (None, None, None, {})


def test_calls_of_the_suite_are_no_use_of_the_proxy(tmp_path: Path):
    for command, env in ((["lro", "proxy", "--", "my-server"], {"LRO_GAIN": "off"}), (["my-server"], {})):
        assert launch(profile_for_command(command), {}, tmp_path).env == env


def test_edition_is_the_one_asked_for():
    assert profile_for_command(["lro", "serve"], edition="lro-1600").edition == "lro-1600"
    with pytest.raises(ValueError, match="lro-9"):
        profile_for_command(["lro", "serve"], edition="lro-9")


@pytest.mark.parametrize(
    ("command", "variables", "program"),
    [
        (["env", "A=b", "C={workdir}/x", "node", "s.js"], {"A": "b", "C": "{workdir}/x"}, ("node", "s.js")),
        (["/usr/bin/env", "node"], {}, ("node",)),
        (["env", "-u", "X", "node"], {}, ("env", "-u", "X", "node")),
        (["env", "A=1", "-S", "x"], {}, ("env", "A=1", "-S", "x")),
        (["env", "A=1"], {}, ("env", "A=1")),
        (["node", "A=1"], {}, ("node", "A=1")),
    ],
)
def test_variables_that_env_sets_are_the_server_s(command: list[str], variables: Any, program: Any) -> None:
    server = profile_for_command(command).server
    assert (dict(server.env), server.command) == (variables, program)
    assert server.names_workdir is any("{workdir}" in word for word in command)


def test_variables_before_another_command_replace_those_of_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "lro.yaml"
    path.write_text('server: {command: [a, b], env: {DB: "{workdir}/x", LANG: C}}\n', encoding="utf-8")
    server = load(path, command=["env", "DB=/home/me/x", "c"]).server
    assert (server.command, dict(server.env), server.names_workdir) == (
        ("c",),
        {"DB": "/home/me/x", "LANG": "C"},
        False,
    )
    server = load(path, command=["c", "d"]).server
    assert (server.command, server.env["DB"]) == (("c", "d"), "{workdir}/x")
