"""A profile as data. Every field is what ``lro.yaml`` says, with the defaults of its edition filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lro_spec.editions import edition as edition_named

Channel = Literal["notifications", "stderr", "file", "none"]

DEFAULT_EDITION = "lro-6400"
DEFAULT_TIMEOUT_S = 20.0
DEFAULT_START_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How the server is started. ``{workdir}`` is still in the words; `launch` replaces it."""

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the environment of the suite."""
    cwd: str = "."
    """Relative to the folder of the profile."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Seconds for one request."""
    start_timeout_s: float = DEFAULT_START_TIMEOUT_S
    """Seconds for the start and the handshake."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How one setting reaches the server: exactly one of the five is there."""

    env: str | None = None
    """An environment variable."""
    arg: tuple[str, ...] = ()
    """Words for the command line, ``{value}`` in one of them."""
    toml: str | None = None
    """A dotted key of the config file."""
    arg_if_true: tuple[str, ...] = ()
    """Words for the command line where the value is true; there are none where it is false."""
    arg_if_false: tuple[str, ...] = ()
    """Words for the command line where the value is false; there are none where it is true."""

    def __str__(self) -> str:
        if self.env or self.toml:
            return f"${self.env}" if self.env else f"{self.toml} in the config file"
        return " ".join(self.arg or self.arg_if_true or self.arg_if_false)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """Where the TOML file is written, or how its path reaches the server: exactly one of the three is there."""

    arg: tuple[str, ...] = ()
    """Words for the command line, ``{value}`` in one of them."""
    env: str | None = None
    """An environment variable."""
    path: str | None = None
    """A path below ``{workdir}`` where the server looks by itself."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The tool of an operation and the names of its arguments; None where it has no such argument."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What every call carries."""
    query: str | None = None
    limit: str | None = None
    detail: str | None = None
    budget: str | None = None
    """The argument with a token budget (inject)."""


@dataclass(frozen=True, slots=True)
class Seed:
    """How the server is given known memories: exactly one of tool, env and command is there."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For the tool, called once a memory: ``"$memory"`` is the whole object, ``"$memory.title"`` one field."""
    env: str | None = None
    """A variable with the path of a JSONL file that the server reads when it starts."""
    command: tuple[str, ...] = ()
    """A command with ``{seed_file}`` in it, run before the server."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What makes the server clean up: exactly one is there."""

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For the tool."""
    restart: bool = False
    command: tuple[str, ...] = ()
    wait_s: float | None = None
    """Seconds after which the server has done it by itself."""


@dataclass(frozen=True, slots=True)
class Events:
    """Where the server's events are seen."""

    channel: Channel = "notifications"
    file_env: str | None = None
    """The variable that tells the server the path of the file, where the channel is a file."""
    named: bool = False
    """Whether the profile names the channel: only then silence there means that there was no event."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything the suite is told about a server."""

    server: ServerSpec
    edition: str = DEFAULT_EDITION
    level: int | None = None
    """The level claimed; None when none is."""
    settings: Mapping[str, Setting | None] = field(default_factory=dict[str, "Setting | None"])
    """By name (enabled, threshold_tokens, ttl_seconds, output_dir); None where the server has no such setting."""
    given: tuple[str, ...] = ()
    """The settings whose way the profile itself says."""
    config_file: ConfigFile | None = None
    operations: Mapping[str, Operation] | None = None
    """By name; None when the suite is to find them among the tools that the server lists."""
    seed: Seed | None = None
    cleanup: Cleanup | None = None
    events: Events = Events()
    inline_records: str | None = None
    """The jq path of the records in an inline result; None when it is to be found."""
    attest: Mapping[str, str] = field(default_factory=dict[str, str])
    """By requirement id: where and how the vendor verified it."""
    proxy: tuple[str, ...] = ()
    """What starts the proxy in front of another server, with ``{upstream}`` or ``{upstream_config}`` in it; empty where
    the profile does not say that the server is one."""
    path: Path | None = None
    """The file it was read from, absolute; None for a bare command."""

    @property
    def folder(self) -> Path:
        """What relative paths are relative to: the folder of the file, or the working directory of the suite."""
        return self.path.parent if self.path else Path.cwd()

    @classmethod
    def for_command(cls, argv: Sequence[str], *, edition: str = DEFAULT_EDITION) -> Profile:
        """The profile of a server of which nothing but its command is known: settings by the documented variables.

        Nothing is ever stored in such a server. A bare ``lro serve`` is known better: that is the reference server,
        which has the profile ``reference.yaml`` beside this module (behind ``lro proxy`` it is ``proxied.yaml``), and
        memories that end with each process.

        Raises `ValueError` for an unknown edition or an empty command.
        """
        if not argv:
            raise ValueError("no command: expected the program that starts the server, and its arguments")
        from lro_conformance.profile.bundled import is_reference, reference_profile

        if is_reference(argv):
            return reference_profile(argv, edition=edition)
        return cls(ServerSpec(tuple(argv)), edition, settings=default_settings(edition))


def default_settings(edition: str) -> dict[str, Setting | None]:
    """Each setting by the environment variable that the edition documents. Raises `ValueError` for an unknown one."""
    return {name: Setting(env=variable) for name, variable in edition_named(edition).settings.items()}
