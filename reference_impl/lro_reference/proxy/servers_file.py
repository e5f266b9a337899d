"""The servers behind one proxy: a file with `mcpServers`, as clients have it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from lro_reference.settings import SettingsError

_KEYS = ("mcpServers", "servers")
"""What clients call the section; VS Code the latter."""


@dataclass(frozen=True, slots=True)
class Server:
    """How one server is started."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the environment of the proxy."""
    cwd: str | None = None


def read_servers(path: str) -> tuple[Server, ...]:
    """The servers of a file, without those that are disabled. Raises `SettingsError`."""
    try:
        with open(path, encoding="utf-8") as file:
            document: Any = json.load(file)
    except OSError as problem:
        raise SettingsError(f"cannot read the servers' file {path}: {problem.strerror}") from None
    except ValueError as problem:
        raise SettingsError(f"{path} is not valid JSON: {problem}") from None
    top = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    section: Any = next((top[key] for key in _KEYS if key in top), None)
    if not isinstance(section, dict):
        raise SettingsError(f"{path}: an object mcpServers is expected, with a name and a command for each server")
    entries = cast("dict[str, Any]", section)
    found = [_server(name, entry, f"{path}: mcpServers.{name}") for name, entry in entries.items()]
    servers = tuple(server for server in found if server is not None)
    if not servers:
        raise SettingsError(f"{path}: mcpServers names no server")
    return servers


def _server(name: str, entry: object, where: str) -> Server | None:
    if not isinstance(entry, dict):
        raise SettingsError(f"{where} must be an object with a command, not {entry!r}")
    given = cast("dict[str, Any]", entry)
    if given.get("disabled") is True:
        return None
    if "url" in given and "command" not in given:
        raise SettingsError(f"{where} is a server over HTTP: put a bridge to stdio in its place, as a command")
    command, words = given.get("command"), given.get("args", [])
    env, cwd = given.get("env", {}), given.get("cwd")
    if not isinstance(command, str) or not command:
        raise SettingsError(f"{where}.command must be a program's name, not {command!r}")
    if not _texts(words, list):
        raise SettingsError(f"{where}.args must be an array of strings, not {words!r}")
    if not _texts(env, dict):
        raise SettingsError(f"{where}.env must be an object of strings, not {env!r}")
    if cwd is not None and not isinstance(cwd, str):
        raise SettingsError(f"{where}.cwd must be a folder, not {cwd!r}")
    return Server(name, (command, *words), env, cwd)


def _texts(value: object, kind: type) -> bool:
    if not isinstance(value, kind):
        return False
    texts = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return all(isinstance(text, str) for text in texts)
