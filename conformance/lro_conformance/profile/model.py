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
"""Value of an argument that asks for a level of detail."""

DEFAULT_TIMEOUT_S = 20.0
DEFAULT_START_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """Start of the server. Words may contain ``{workdir}``, which `launch` replaces."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the environment of the suite."""
    cwd: str = "."
    """Relative to the directory of the profile."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Seconds for one request."""
    start_timeout_s: float = DEFAULT_START_TIMEOUT_S
    """Seconds for the start and the handshake."""


@dataclass(frozen=True, slots=True)
class Client:
    """The suite as a client, in the handshake; None for what is its own."""

    name: str | None = None
    version: str | None = None
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """Way of a setting to the server; exactly one field is set."""

    env: str | None = None
    """An environment variable."""
    arg: tuple[str, ...] = ()
    """Words for the command line, ``{value}`` in one of them."""
    toml: str | None = None
    """A dotted key of the config file."""
    arg_if_true: tuple[str, ...] = ()
    """Words for the command line if the value is true; none if it is false."""
    arg_if_false: tuple[str, ...] = ()
    """Words for the command line if the value is false; none if it is true."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names by which a message of the server may speak of the setting: its variable, flags or key."""
        flags = [word.partition("=")[0] for word in (*self.arg, *self.arg_if_true, *self.arg_if_false)]
        key = self.toml.rpartition(".")[2] if self.toml else ""
        return tuple(name for name in (self.env, key, *flags) if name and "{value}" not in name)

    def __str__(self) -> str:
        if self.env or self.toml:
            return f"${self.env}" if self.env else f"{self.toml} in the config file"
        return " ".join(self.arg or self.arg_if_true or self.arg_if_false)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """Place of the TOML file, or the way of its path to the server; exactly one field is set."""

    arg: tuple[str, ...] = ()
    """Words for the command line, ``{value}`` in one of them."""
    env: str | None = None
    """An environment variable."""
    path: str | None = None
    """A path below ``{workdir}`` that the server reads without being told."""


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
    """Those of query, limit, detail and budget that the tool does not have, as the profile says by null."""


@dataclass(frozen=True, slots=True)
class Seed:
    """Way of known memories into the server; exactly one of tool, env and command is set."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For the tool, which is called for each memory: ``"$memory"`` is the object, ``"$memory.title"`` a field of it."""
    env: str | None = None
    """Variable for the path of a JSONL file that the server reads at its start."""
    command: tuple[str, ...] = ()
    """Command that is run before the server; contains ``{seed_file}``."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """Trigger of the server's cleanup; exactly one is set."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For the tool."""
    restart: bool = False
    command: tuple[str, ...] = ()
    wait_s: float | None = None
    """Seconds after which the server has cleaned up without a trigger."""
    next_offload: bool = False
    """True if it cleans up whenever it offloads a result."""


@dataclass(frozen=True, slots=True)
class Events:
    """Channel of the server's events; notifications and stderr are read whatever it is (I-11)."""

    channel: Channel = "notifications"
    file_env: str | None = None
    """Variable for the path of the file, if the channel is a file."""
    named: bool = False
    """True when the profile names the channel."""

    @property
    def observable(self) -> bool:
        """True when silence means that there was no event: the profile says where events are seen."""
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
    """By name (enabled, threshold_tokens, ttl_seconds, output_dir); None for one that the server does not have."""
    given: tuple[str, ...] = ()
    """Names of the settings that the profile sets explicitly."""
    config_file: ConfigFile | None = None
    operations: Mapping[str, Operation | None] | None = None
    """By name, None for one that the server does not have; None if the suite is to find them among the listed tools."""
    seed: Seed | None = None
    cleanup: Cleanup | None = None
    events: Events = Events()
    inline_records: str | None = None
    """jq path of the records in an inline result; None if the suite is to find them."""
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
        """The flag or variable by which `server` itself sets a setting, by the setting's name: the server's default
        does not apply then.

        It is one that the profile names for the setting, or a flag of the setting's name, such as ``--ttl-seconds``,
        ``--ttl`` or ``--lro-ttl``.
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
        """The flag of `server` that overrides the profile's way to set a setting, by the setting's name."""
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
"""Objects of *set* and *fix*, by the name of the setting."""


def reason_not_set(name: str, fixed: Mapping[str, str]) -> str:
    """The reason why a setting cannot be given to a server whose command has these flags: see `Profile.fixed`."""
    if name in fixed:
        advice = f"leave it out, or name it in the profile: settings.{name}"
        return f"{fixed[name]} in the server's command fixes {SETTING_NOUNS[name]} ({advice})"
    return f"the profile gives no way to set {SETTING_NOUNS[name]} (settings.{name})"


_MARKS = ("lro", "offload", "offloading")
"""Words before the name of a setting in a flag that are not about anything else."""


def _is_flag_of(setting: str, word: str) -> bool:
    """True for a flag with the name of a setting, with and without its unit, and with a word for LRO before it."""
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
    """All settings with the environment variables that the edition documents. Raises `ValueError` if it is unknown."""
    return {name: Setting(env=variable) for name, variable in edition_named(edition).settings.items()}
