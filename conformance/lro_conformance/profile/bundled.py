"""The profiles of what the suite brings along: ``lro serve``, alone and behind ``lro proxy``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from lro_conformance.profile.launching import behind_proxy
from lro_conformance.profile.loading import load
from lro_conformance.profile.model import Profile, default_settings

REFERENCE = Path(__file__).with_name("reference.yaml")
PROXIED = Path(__file__).with_name("proxied.yaml")


def is_reference(command: Sequence[str]) -> bool:
    """Whether a command starts the reference server of this very installation: a bare ``lro serve``.

    So it is behind the proxy of this installation, too.
    """
    return tuple(_server(command)[:2]) == ("lro", "serve")


def _server(command: Sequence[str]) -> Sequence[str]:
    """The command without the proxy before it."""
    at = behind_proxy(command)
    return command if at is None else command[at:]


def reference_profile(command: Sequence[str], *, edition: str) -> Profile:
    """The profile for ``lro serve`` with these arguments, or for ``lro proxy`` in front of it.

    Each process keeps its memories to itself, so more may be stored in it; not so in a folder that the command names.
    """
    profile = load(REFERENCE if behind_proxy(command) is None else PROXIED, command=command)
    return replace(
        profile,
        edition=edition,
        settings=default_settings(edition),
        seed=None if _names_a_folder(_server(command)) else profile.seed,
        path=None,  # paths in the command are relative to the working directory, as for any bare command
    )


def _names_a_folder(command: Sequence[str]) -> bool:
    """Whether the command says where the memories are, and that is not ``:memory:``."""
    given = [word.removeprefix("--data=") for word in command if word.startswith("--data=")]
    given += [value for flag, value in pairwise(command) if flag == "--data"]
    return any(folder != ":memory:" for folder in given)
