"""Reads a file that lists several servers for one proxy, under `mcpServers` as in a client's configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from lro_reference.settings import SettingsError

_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)\}")
_SECTION_NAMES = ("mcpServers", "servers")
"""Possible names of the section with the servers; VS Code uses the second name."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t -~]*")


@dataclass(frozen=True, slots=True)
class Server:
    """The command or the address of one server."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of this server, in addition to those of all servers (`lro_proxy.options.server_environment`)."""
    cwd: str | None = None
    url: str = ""
    """Address of a server over HTTP, instead of a command."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def read_servers(path: str, environ: Mapping[str, str]) -> tuple[Server, ...]:
    """The servers of a file, without those that are disabled. Raises `SettingsError`.

    In an address and in the values of headers, ``${NAME}`` or ``${env:NAME}`` stands for an environment variable, as in
    clients.
    """
    try:
        with open(path, encoding="utf-8") as file:
            document: Any = json.load(file)
    except OSError as problem:
        raise SettingsError(f"cannot read the servers' file {path}: {problem.strerror}") from None
    except ValueError as problem:
        raise SettingsError(f"{path} is not valid JSON: {problem}") from None
    root = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    key = next((key for key in _SECTION_NAMES if key in root), _SECTION_NAMES[0])
    section: Any = root.get(key)
    if not isinstance(section, dict):
        raise SettingsError(f"{path} must have an object {key}, with a name and a command or url for each server")
    entries = cast("dict[str, Any]", section)
    parsed = [_server(name, entry, f"{path}: {key}.{name}", environ) for name, entry in entries.items()]
    servers = tuple(server for server in parsed if server is not None)
    if not servers:
        raise SettingsError(f"{path}: {key} names no server{' that is enabled' if parsed else ''}")
    return servers


def _server(name: str, entry: object, where: str, environ: Mapping[str, str]) -> Server | None:
    if not isinstance(entry, dict):
        raise SettingsError(f"{where} must be an object with a command or a url, not {entry!r}")
    fields = cast("dict[str, Any]", entry)
    if fields.get("disabled") is True:
        return None
    if "url" in fields and "command" not in fields:
        return _remote(name, fields, where, environ)
    command, words = fields.get("command"), fields.get("args", [])
    env, cwd = fields.get("env", {}), fields.get("cwd")
    if not isinstance(command, str) or not command:
        raise SettingsError(f"{where}.command must be a program's name, not {command!r}")
    if not _has_texts(words, list):
        raise SettingsError(f"{where}.args must be an array of strings, not {words!r}")
    if not _has_texts(env, dict):
        raise SettingsError(f"{where}.env must be an object of strings, not {env!r}")
    if cwd is not None and not isinstance(cwd, str):
        raise SettingsError(f"{where}.cwd must be a folder, not {cwd!r}")
    return Server(name, (command, *words), env, cwd)


def _remote(name: str, fields: Mapping[str, Any], where: str, environ: Mapping[str, str]) -> Server:
    headers = fields.get("headers", {})
    if fields.get("type") == "sse":
        raise SettingsError(f"{where}.type is sse, the transport of 2024; only streamable HTTP is supported")
    if not isinstance(fields["url"], str):
        raise SettingsError(f"{where}.url must be an address, not {fields['url']!r}")
    if not _has_texts(headers, dict):
        raise SettingsError(f"{where}.headers must be an object of strings")  # without the values, which may be secret
    url = address(_fill_in_variables(fields["url"], where, environ), f"{where}.url", fields["url"])
    filled = {key: _fill_in_variables(value, where, environ) for key, value in headers.items()}
    return Server(name, url=url, headers=dict(header(key, filled[key], f"{where}.headers") for key in filled))


def address(url: str, where: str, original: str) -> str:
    """The checked address of a server over HTTP. Raises `SettingsError`, whose message quotes *original*.

    *original* is the address before variables were filled in. The message does not quote *url*, which may contain their
    secret values. *where* names the setting in the message.
    """
    import httpx2  # the import takes a tenth of a second

    try:
        parts = httpx2.URL(url)
        is_valid = parts.scheme in ("http", "https") and parts.host != ""
    except httpx2.InvalidURL:
        is_valid = False
    if not is_valid:
        raise SettingsError(f"{where} must be an address like https://example.org/mcp, not {original!r}")
    return url


def header(name: str, value: str, where: str) -> tuple[str, str]:
    """A checked header. Raises `SettingsError`, whose message does not contain the value, which may be a secret."""
    value = value.strip()
    if not _HEADER_NAME.fullmatch(name):
        raise SettingsError(f"{where}: the name of a header contains an invalid character")
    if not _HEADER_VALUE.fullmatch(value):
        raise SettingsError(f"{where}: the value of {name} contains a line end or another invalid character")
    return name, value


def _fill_in_variables(text: str, where: str, environ: Mapping[str, str]) -> str:
    """The text with the values of the environment variables that it names. Raises `SettingsError`."""
    missing = next((name for name in _VARIABLE.findall(text) if name not in environ), None)
    if missing is not None:
        raise SettingsError(f"{where} uses the environment variable {missing}, which is not set")
    return _VARIABLE.sub(lambda match: environ[match[1]], text)


def _has_texts(value: object, kind: type) -> bool:
    """True if a value is of the type *kind*, a list or a dictionary, and all of its items or members are texts."""
    if not isinstance(value, kind):
        return False
    texts = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return all(isinstance(text, str) for text in texts)
