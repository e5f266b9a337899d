"""A profile as data: the contents of ``lro.yaml`` with the defaults of its edition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named

Channel = Literal["notifications", "stderr", "file", "none"]

DetailValue = str | bool | int
"""The value of an argument that selects a level of detail."""

DEFAULT_TIMEOUT_S = 20.0
DEFAULT_START_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """The way to start the server. The command, the values of variables and the working directory may contain
    ``{workdir}``, which `launch` replaces."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that the server gets in addition to those of the suite."""
    cwd: str = "."
    """The working directory, relative to the directory of the profile."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Longest time, in seconds, that the server may take for the response to one request."""
    start_timeout_s: float = DEFAULT_START_TIMEOUT_S
    """Longest time, in seconds, that the server may take for its start and the handshake."""

    @property
    def names_workdir(self) -> bool:
        """True if ``{workdir}`` is named, which says that each process keeps its data in a directory of its own."""
        return any("{workdir}" in text for text in (*self.command, *self.env.values(), self.cwd))


@dataclass(frozen=True, slots=True)
class Client:
    """The identity that the suite presents to the server as its client, in the handshake.

    If the name or the version is None, the suite uses its own name or version.
    """

    name: str | None = None
    version: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """The way to give the value of a setting to the server. Exactly one field is set."""

    env: str | None = None
    """An environment variable."""
    arg: tuple[str, ...] = ()
    """Words for the command line. One of them contains ``{value}``."""
    toml: str | None = None
    """A dotted key of the config file."""
    arg_if_true: tuple[str, ...] = ()
    """Words for the command line if the value is true. No words are added if the value is false."""
    arg_if_false: tuple[str, ...] = ()
    """Words for the command line if the value is false. No words are added if the value is true."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names by which a message of the server may refer to the setting: its variable, flags or key."""
        flags = [word.partition("=")[0] for word in (*self.arg, *self.arg_if_true, *self.arg_if_false)]
        key = self.toml.rpartition(".")[2] if self.toml else ""
        return tuple(name for name in (self.env, key, *flags) if name and "{value}" not in name)

    def __str__(self) -> str:
        if self.env or self.toml:
            return f"${self.env}" if self.env else f"{self.toml} in the config file"
        return " ".join(self.arg or self.arg_if_true or self.arg_if_false)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The place of the TOML file with settings, or the way to give its path to the server. Exactly one field is set."""

    arg: tuple[str, ...] = ()
    """Words for the command line. One of them contains ``{value}``."""
    env: str | None = None
    """An environment variable."""
    path: str | None = None
    """A path below ``{workdir}`` from which the server reads the file by default."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The tool of an operation, and the names of its arguments. The name is None if the profile does not give it."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that are sent with every call."""
    query: str | None = None
    limit: str | None = None
    detail: str | None = None
    levels: Mapping[str, DetailValue] = field(default_factory=dict[str, DetailValue])
    """The values of the argument `detail` by level; empty if the profile names only the argument."""
    budget: str | None = None
    """The argument for a token budget, as tools of the operation inject have it."""
    without: tuple[str, ...] = ()
    """The names among query, limit, detail and budget that the profile sets to null, because the tool has no such
    argument."""


@dataclass(frozen=True, slots=True)
class Seed:
    """The way to give the suite's memories to the server. Exactly one of tool, env and command is set."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of the tool. The tool is called for each memory: ``"$memory"`` is replaced by the memory, an object,
    and ``"$memory.title"`` by a field of the memory."""
    env: str | None = None
    """Environment variable for the path of a JSONL file that the server reads at its start."""
    command: tuple[str, ...] = ()
    """Command that is run before the server starts. It contains ``{seed_file}``."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """The way to trigger the cleanup. Exactly one of tool, restart, command, wait_s and next_offload is set."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of the tool."""
    restart: bool = False
    command: tuple[str, ...] = ()
    wait_s: float | None = None
    """Seconds after which the server has surely cleaned up by itself."""
    next_offload: bool = False
    """True if the server cleans up whenever it offloads a result."""


@dataclass(frozen=True, slots=True)
class Events:
    """The channel on which the server's events appear. The suite always reads notifications and stderr, too (I-11 of
    docs/interpretations.md)."""

    channel: Channel = "notifications"
    file_env: str | None = None
    """Environment variable for the path of the file, if the channel is a file."""
    named: bool = False
    """True if the profile names the channel."""

    @property
    def observable(self) -> bool:
        """True if the profile names a channel on which events appear. If nothing appears on it, there was no event."""
        return self.named and self.channel != "none"


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything that a user tells the suite about a server."""

    server: ServerSpec
    edition: str = DEFAULT_EDITION
    level: int | None = None
    """The conformance level that the server claims to meet; None if it claims none."""
    client: Client = Client()
    settings: Mapping[str, Setting | None] = field(default_factory=dict[str, "Setting | None"])
    """The way to give each setting to the server, by the name of the setting (enabled, threshold_tokens, ttl_seconds,
    output_dir); None for a setting that the server lacks."""
    given: tuple[str, ...] = ()
    """Names of the settings for which the profile file itself says how they are set."""
    config_file: ConfigFile | None = None
    operations: Mapping[str, Operation | None] | None = None
    """Operations by name; None for an operation that the server does not have. If the whole attribute is None, the
    suite looks for the operations among the tools that the server lists."""
    seed: Seed | None = None
    cleanup: Cleanup | None = None
    events: Events = Events()
    inline_records: str | None = None
    """The jq path of the records in an inline result; None if the suite has to find the records by itself."""
    attest: Mapping[str, str] = field(default_factory=dict[str, str])
    """The vendor's attestations by requirement id."""
    proxy: tuple[str, ...] = ()
    """If the server is a proxy: the command that starts the proxy in front of a different server, with ``{upstream}``,
    ``{upstream_config}`` or ``{upstream_url}``. Empty if the profile has no such command."""
    path: Path | None = None
    """Absolute path of the profile file; None if the server was named by its command alone."""

    @property
    def folder(self) -> Path:
        """The directory to which paths are relative: that of the profile file or, if there is none, the working
        directory."""
        return self.path.parent if self.path else Path.cwd()

    @property
    def preset(self) -> Mapping[str, str]:
        """Settings to which the command or the environment in `server` gives a value, each with the name of the flag or
        variable. Their defaults do not apply.

        A flag or variable is recognised if the profile names it for the setting, and a flag also if its name is like
        the setting's, such as ``--ttl-seconds``, ``--ttl`` or ``--lro-ttl``.
        """
        words = [*(word.partition("=")[0] for word in self.server.command), *self.server.env]
        found: dict[str, str] = {}
        for name, way in self.settings.items():
            names = () if way is None else way.names
            flag_or_variable = next((w for w in words if w in names or _is_flag_of(name, w)), None)
            if flag_or_variable is not None:
                found[name] = flag_or_variable
        return found

    @property
    def fixed(self) -> Mapping[str, str]:
        """Settings that the suite cannot set, each with a flag: this flag in the command of `server` gives the setting
        a value, although the profile names a different way to set it."""
        ways = self.settings
        return {n: w for n, w in self.preset.items() if (way := ways.get(n)) is not None and w not in way.names}

    def can_set(self, name: str) -> bool:
        """True if the suite can set a setting: the profile says how, and the command of `server` does not override
        it."""
        return self.settings.get(name) is not None and name not in self.fixed

    def reason_not_set(self, name: str) -> str:
        """Return the reason why the suite cannot set a setting."""
        return reason_not_set(name, self.fixed)


SETTING_NOUNS = {
    "enabled": "whether LRO is enabled",
    "threshold_tokens": "the threshold",
    "ttl_seconds": "the TTL",
    "output_dir": "the output folder",
}
"""Descriptions of the settings in messages, as objects of the verbs "set" and "fixes"."""


def reason_not_set(name: str, fixed: Mapping[str, str]) -> str:
    """Return the reason why the suite cannot set a setting. For *fixed* see `Profile.fixed`."""
    if name in fixed:
        advice = f"leave it out, or name it in the profile: settings.{name}"
        return f"{fixed[name]} in the server's command fixes {SETTING_NOUNS[name]} ({advice})"
    return f"the profile gives no way to set {SETTING_NOUNS[name]} (settings.{name})"


_FLAG_PREFIXES = ("lro", "offload", "offloading")
"""Words that may precede the name of a setting in a flag without changing the flag's meaning."""


def _is_flag_of(setting: str, word: str) -> bool:
    """True for a flag that is named like the setting, with or without the unit. If more words precede the setting's
    name in the flag, the last of them must be one of `_FLAG_PREFIXES`."""
    if not word.startswith("--"):
        return False
    words = tuple(re.split("[-_.]", word[2:].lower()))
    for name in (setting, setting.removesuffix("_seconds").removesuffix("_tokens")):
        setting_words = tuple(name.split("_"))
        preceding_words = words[: -len(setting_words)]
        is_named_alike = words[-len(setting_words) :] == setting_words
        if is_named_alike and (not preceding_words or preceding_words[-1] in _FLAG_PREFIXES):
            return True
    return False


def default_settings(edition: str) -> dict[str, Setting | None]:
    """Return all settings, each set by the environment variable that the edition documents. Raises `ValueError` for an
    unknown edition."""
    return {name: Setting(env=variable) for name, variable in edition_named(edition).settings.items()}
