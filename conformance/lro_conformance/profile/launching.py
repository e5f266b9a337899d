"""From a profile and the values of settings to what starts one server process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lro_conformance.profile.model import Profile

_CONFIG_NAME = "lro-config.toml"
_EVENTS_NAME = "lro-events.jsonl"

Value = str | int | float | bool | Path


class SettingNotOffered(ValueError):
    """The server has no such setting, so no server can be started with a value of it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the server has no setting {name}: settings.{name} in the profile says how it would reach it")
        self.name = name


@dataclass(frozen=True, slots=True)
class Launch:
    """What starts one server process."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Added to the environment of the suite."""
    cwd: Path
    unset: tuple[str, ...] = ()
    """Variables of settings that were given no value: to be taken out of the environment that is inherited, or a
    default would be tested with what the user's shell happens to hold."""
    config_file: Path | None = None
    """The config file that was written, if the profile has one."""
    events_file: Path | None = None
    """Where the server was told to write its events, if it was."""


def launch(
    profile: Profile,
    values: Mapping[str, Value],
    workdir: str | os.PathLike[str],
    *,
    seed_file: str | os.PathLike[str] | None = None,
) -> Launch:
    """Composes command line, environment and working directory of one server process.

    *values* are settings by name; those left out keep the server's own default. *workdir* is an existing, empty folder
    for this process; a config file is written into it, also when it holds nothing, so that the server does not read
    the user's own. Raises `SettingNotOffered` for a setting that the profile does not have.
    """
    workdir = Path(workdir).absolute()
    server = profile.server
    argv = [fill(word, workdir=workdir) for word in own_lro(server.command)]
    env = {name: fill(value, workdir=workdir) for name, value in server.env.items()}
    keys: dict[str, Value] = {}
    for name, value in values.items():
        setting = profile.settings.get(name)
        if setting is None:
            raise SettingNotOffered(name)
        if setting.env is not None:
            env[setting.env] = spelled(value)
        elif setting.toml is not None:
            keys[setting.toml] = value
        else:
            words = setting.arg or (setting.arg_if_true if value else setting.arg_if_false)
            argv += [word.replace("{value}", spelled(value)) for word in words]
    config_file = _config(profile, keys, workdir, argv, env)
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
    """A word with ``{workdir}`` and ``{seed_file}`` replaced; other braces are the server's own business."""
    word = word.replace("{workdir}", os.fspath(workdir))
    return word if seed_file is None else word.replace("{seed_file}", os.fspath(seed_file))


def spelled(value: Value) -> str:
    """A setting's value as text: booleans are ``true`` and ``false``."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def own_lro(command: Sequence[str]) -> tuple[str, ...]:
    """The command, where a bare ``lro`` means this very installation, whatever else is on the PATH.

    That holds for the server behind ``lro proxy``, too.
    """
    if command[0] != "lro":
        return tuple(command)
    at = behind_proxy(command)
    rest = command[1:] if at is None else (*command[1:at], *own_lro(command[at:]))
    # -P: the working directory is the user's, and a json.py in it is not ours to import
    return (sys.executable, "-P", "-m", "lro_conformance", *rest)


def behind_proxy(command: Sequence[str]) -> int | None:
    """Where the server's command begins in one of ``lro proxy``; None in any other command."""
    if tuple(command[:2]) != ("lro", "proxy") or "--" not in command[:-1]:
        return None
    return list(command).index("--") + 1


def _config(
    profile: Profile, keys: Mapping[str, Value], workdir: Path, argv: list[str], env: dict[str, str]
) -> Path | None:
    where = profile.config_file
    if where is None:
        return None
    path = Path(fill(where.path, workdir=workdir)) if where.path else workdir / _CONFIG_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(toml(keys), encoding="utf-8")
    argv += [word.replace("{value}", str(path)) for word in where.arg]
    if where.env is not None:
        env[where.env] = str(path)
    return path


def toml(keys: Mapping[str, Value]) -> str:
    """Dotted keys and their values as a TOML document, with a table for each prefix."""
    tables: dict[str, list[str]] = {}
    for key, value in keys.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append(f"{name} = {_toml_value(value)}")
    blocks = [([f"[{table}]"] if table else []) + lines for table, lines in sorted(tables.items())]
    return "\n".join("\n".join(block) + "\n" for block in blocks)


def _toml_value(value: Value) -> str:
    if isinstance(value, bool | int | float):
        return spelled(value)
    # A basic string of TOML is a JSON string, save that DEL has to be escaped and surrogate pairs must not be.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
