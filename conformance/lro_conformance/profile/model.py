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
"""Value of an argument that selects a level of detail."""

DEFAULT_TIMEOUT_S = 20.0
DEFAULT_START_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """The start of the server. The command, the values of variables and the working directory may contain
    ``{workdir}``, which `launch` replaces."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that the server gets in addition to those of the suite."""
    cwd: str = "."
    """The working directory, relative to the directory of the profile."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Longest time, in seconds, for the response to one request."""
    start_timeout_s: float = DEFAULT_START_TIMEOUT_S
    """Longest time, in seconds, for the start and the handshake."""


@dataclass(frozen=True, slots=True)
class Client:
    """The client as which the suite presents itself in the handshake.

    A name or version of None stands for the suite's own.
    """

    name: str | None = None
    version: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """The way in which a setting reaches the server; exactly one field is set."""

    env: str | None = None
    """An environment variable."""
    arg: tuple[str, ...] = ()
    """Words for the command line, ``{value}`` in one of them."""
    toml: str | None = None
    """A dotted key of the config file."""
    arg_if_true: tuple[str, ...] = ()
    """Words for the command line if the value is true; no words are added if it is false."""
    arg_if_false: tuple[str, ...] = ()
    """Words for the command line if the value is false; no words are added if it is true."""

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
    """Where the TOML file with settings is, or how its path reaches the server; exactly one field is set."""

    arg: tuple[str, ...] = ()
    """Words for the command line, ``{value}`` in one of them."""
    env: str | None = None
    """An environment variable."""
    path: str | None = None
    """A path below ``{workdir}``, from which the server reads the file by default."""


@dataclass(frozen=True, slots=True)
class Operation:
    """Tool of an operation and the names of its arguments; None for an argument that the profile does not name."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of every call."""
    query: str | None = None
    limit: str | None = None
    detail: str | None = None
    levels: Mapping[str, DetailValue] = field(default_factory=dict[str, DetailValue])
    """Values of `detail` by level; empty if the profile names only the argument."""
    budget: str | None = None
    """Argument for a token budget (inject)."""
    without: tuple[str, ...] = ()
    """Those of query, limit, detail and budget that the profile sets to null, because the tool does not have them."""


@dataclass(frozen=True, slots=True)
class Seed:
    """The way in which the suite's memories get into the server; exactly one of tool, env and command is set."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of the tool, which is called for each memory: ``"$memory"`` stands for the object, ``"$memory.title"``
    for a field of it."""
    env: str | None = None
    """Variable for the path of a JSONL file that the server reads at its start."""
    command: tuple[str, ...] = ()
    """Command that is run before the server; contains ``{seed_file}``."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """Trigger of the server's cleanup; exactly one of tool, restart, command, wait_s and next_offload is set."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of the tool."""
    restart: bool = False
    command: tuple[str, ...] = ()
    wait_s: float | None = None
    """Seconds after which the server has cleaned up without a trigger."""
    next_offload: bool = False
    """True if it cleans up whenever it offloads a result."""


@dataclass(frozen=True, slots=True)
class Events:
    """Channel of the server's events. Notifications and stderr are read whatever the channel is (I-11 of
    docs/interpretations.md)."""

    channel: Channel = "notifications"
    file_env: str | None = None
    """Variable for the path of the file, if the channel is a file."""
    named: bool = False
    """True when the profile names the channel."""

    @property
    def observable(self) -> bool:
        """True if the profile names a channel on which events appear. Silence then means that there was no event."""
        return self.named and self.channel != "none"


@dataclass(frozen=True, slots=True)
class Profile:
    """All that a user tells the suite about a server."""

    server: ServerSpec
    edition: str = DEFAULT_EDITION
    level: int | None = None
    """Claimed level; None without a claim."""
    client: Client = Client()
    settings: Mapping[str, Setting | None] = field(default_factory=dict[str, "Setting | None"])
    """Ways to set the settings by name (enabled, threshold_tokens, ttl_seconds, output_dir); None for a setting that
    the server lacks."""
    given: tuple[str, ...] = ()
    """Names of the settings for which the profile itself names a way to set them."""
    config_file: ConfigFile | None = None
    operations: Mapping[str, Operation | None] | None = None
    """Operations by name, with None for one that the server does not have. If this is None itself, the suite looks for
    the operations among the listed tools."""
    seed: Seed | None = None
    cleanup: Cleanup | None = None
    events: Events = Events()
    inline_records: str | None = None
    """jq path of the records in an inline result; None if the suite has to find them."""
    attest: Mapping[str, str] = field(default_factory=dict[str, str])
    """The vendor's attestations by requirement id."""
    proxy: tuple[str, ...] = ()
    """Command that starts the proxy in front of a different server, with ``{upstream}``, ``{upstream_config}`` or
    ``{upstream_url}``; empty if the profile has no such command."""
    path: Path | None = None
    """Absolute path of the profile; None for a bare command."""

    @property
    def folder(self) -> Path:
        """Base of relative paths: the directory of the profile, or the working directory."""
        return self.path.parent if self.path else Path.cwd()

    @property
    def preset(self) -> Mapping[str, str]:
        """Settings to which `server` gives a value by a flag or variable, each with the name of that flag or variable.
        Their defaults do not apply.

        The name is one that the profile names for the setting, or a flag with the setting's name, such as
        ``--ttl-seconds``, ``--ttl`` or ``--lro-ttl``.
        """
        words = [*(word.partition("=")[0] for word in self.server.command), *self.server.env]
        found: dict[str, str] = {}
        for name, way in self.settings.items():
            names = () if way is None else way.names
            word = next((w for w in words if w in names or _is_flag_of(name, w)), None)
            if word is not None:
                found[name] = word
        return found

    @property
    def fixed(self) -> Mapping[str, str]:
        """Settings to which a flag of `server` gives a value although the profile names a different way to set them, so
        that the suite cannot set them; each with that flag."""
        ways = self.settings
        return {n: w for n, w in self.preset.items() if (way := ways.get(n)) is not None and w not in way.names}

    def can_set(self, name: str) -> bool:
        """True if a setting can be given to the server: the profile has a way, and no flag of `server` overrides it."""
        return self.settings.get(name) is not None and name not in self.fixed

    def reason_not_set(self, name: str) -> str:
        """The reason why a setting cannot be given to the server."""
        return reason_not_set(name, self.fixed)


SETTING_NOUNS = {
    "enabled": "whether LRO is enabled",
    "threshold_tokens": "the threshold",
    "ttl_seconds": "the TTL",
    "output_dir": "the output folder",
}
"""Descriptions of the settings in messages, as objects of the verbs "set" and "fixes"."""


def reason_not_set(name: str, fixed: Mapping[str, str]) -> str:
    """The reason why a setting cannot be given to the server; for *fixed* see `Profile.fixed`."""
    if name in fixed:
        advice = f"leave it out, or name it in the profile: settings.{name}"
        return f"{fixed[name]} in the server's command fixes {SETTING_NOUNS[name]} ({advice})"
    return f"the profile gives no way to set {SETTING_NOUNS[name]} (settings.{name})"


_MARKS = ("lro", "offload", "offloading")
"""Words that can stand before the name of a setting in a flag without changing its meaning."""


def _is_flag_of(setting: str, word: str) -> bool:
    """True for a flag that is named like the setting: with or without the unit, and perhaps with one of `_MARKS`
    before it."""
    if not word.startswith("--"):
        return False
    words = tuple(re.split("[-_.]", word[2:].lower()))
    for name in (setting, setting.removesuffix("_seconds").removesuffix("_tokens")):
        known = tuple(name.split("_"))
        before = words[: -len(known)]
        if words[-len(known) :] == known and (not before or before[-1] in _MARKS):
            return True
    return False


def default_settings(edition: str) -> dict[str, Setting | None]:
    """All settings, each by the environment variable that the edition documents. Raises `ValueError` for an unknown
    edition."""
    return {name: Setting(env=variable) for name, variable in edition_named(edition).settings.items()}
