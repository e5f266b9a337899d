"""The command line, environment and files of a server process, composed from its profile and the values of settings."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lro_conformance.profile.model import Profile
from lro_conformance.profile.proxy import proxy_index, with_own_lro

_CONFIG_NAME = "lro-config.toml"
_EVENTS_NAME = "lro-events.jsonl"
_SERVER_DIRECTORY = "work"
"""Name of the directory that replaces ``{workdir}``."""

Value = str | int | float | bool | Path


class SettingNotOffered(ValueError):
    """The profile does not say how a setting reaches the server, so no server can be started with a value for it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the profile gives no way to set {name}: settings.{name} has to name one")
        self.name = name


@dataclass(frozen=True, slots=True)
class Launch:
    """Parameters for starting a server process."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Variables that the process gets in addition to those of the suite."""
    cwd: Path
    unset: tuple[str, ...] = ()
    """Variables of settings that get no value. They are removed from the environment of the process: a test of a
    default must not use a value from the user's shell."""
    config_file: Path | None = None
    """The config file that was written; None if the profile has none."""
    events_file: Path | None = None
    """File to which the server writes its events; None if the profile names no variable for the path of such a file."""


def launch(
    profile: Profile,
    values: Mapping[str, Value],
    workdir: str | os.PathLike[str],
    *,
    seed_file: str | os.PathLike[str] | None = None,
) -> Launch:
    """Compose the parameters of a server process, and write its config file.

    *values* are settings by name; all other settings keep the server's default. *workdir* is an existing directory that
    only this process uses; ``{workdir}`` is replaced by a directory within it (see `fill`). If the profile has a config
    file, this file is written even if it is empty, so that the server does not read the user's config file. Raises
    `SettingNotOffered` for a setting that the profile gives no way to set.
    """
    workdir = Path(workdir).absolute()
    Path(fill("{workdir}", workdir=workdir)).mkdir(parents=True, exist_ok=True)
    server = profile.server
    argv = [fill(word, workdir=workdir) for word in with_own_lro(server.command)]
    env = {name: fill(value, workdir=workdir) for name, value in server.env.items()}
    if proxy_index(server.command) is not None:
        env.setdefault("LRO_GAIN", "off")  # calls of the suite must not count in the report of lro gain
    toml_values: dict[str, Value] = {}
    for name, value in values.items():
        setting = profile.settings.get(name)
        if setting is None:
            raise SettingNotOffered(name)
        if setting.env is not None:
            env[setting.env] = as_text(value)
        elif setting.toml is not None:
            toml_values[setting.toml] = value
        else:
            words = setting.arg or (setting.arg_if_true if value else setting.arg_if_false)
            argv += [word.replace("{value}", as_text(value)) for word in words]
    config_file = _config(profile, toml_values, workdir, argv, env)
    if profile.seed and profile.seed.env and seed_file is not None:
        env[profile.seed.env] = os.fspath(seed_file)
    events_file = workdir / _EVENTS_NAME if profile.events.file_env else None
    if profile.events.file_env and events_file:
        env[profile.events.file_env] = str(events_file)
    variables = {s.env for s in profile.settings.values() if s and s.env}
    return Launch(
        argv=tuple(argv),
        env=env,
        cwd=profile.folder / fill(server.cwd, workdir=workdir),
        unset=tuple(sorted(variables - env.keys())),
        config_file=config_file,
        events_file=events_file,
    )


def fill(word: str, *, workdir: str | os.PathLike[str], seed_file: str | os.PathLike[str] | None = None) -> str:
    """Replace ``{workdir}`` and ``{seed_file}`` in a word. Other text in braces is not changed.

    ``{workdir}`` is replaced by a directory within *workdir* that belongs to the server alone, so that names of the
    server's files cannot collide with names of the suite's files.
    """
    word = word.replace("{workdir}", os.path.join(workdir, _SERVER_DIRECTORY))
    return word if seed_file is None else word.replace("{seed_file}", os.fspath(seed_file))


def as_text(value: Value) -> str:
    """Return the value of a setting as text. Booleans are written as ``true`` and ``false``."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _config(
    profile: Profile, keys: Mapping[str, Value], workdir: Path, argv: list[str], env: dict[str, str]
) -> Path | None:
    spec = profile.config_file
    if spec is None:
        return None
    path = Path(fill(spec.path, workdir=workdir)) if spec.path else workdir / _CONFIG_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(toml(keys), encoding="utf-8")
    argv += [word.replace("{value}", str(path)) for word in spec.arg]
    if spec.env is not None:
        env[spec.env] = str(path)
    return path


def toml(keys: Mapping[str, Value]) -> str:
    """Return dotted keys and their values as a TOML document, with a table for each prefix."""
    tables: dict[str, list[str]] = {}
    for key, value in keys.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append(f"{name} = {_toml_value(value)}")
    blocks = [([f"[{table}]"] if table else []) + lines for table, lines in sorted(tables.items())]
    return "\n".join("\n".join(block) + "\n" for block in blocks)


def _toml_value(value: Value) -> str:
    if isinstance(value, bool | int | float):
        return as_text(value)
    # JSON strings are TOML strings if DEL is escaped and no character is written as a pair of surrogates
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
