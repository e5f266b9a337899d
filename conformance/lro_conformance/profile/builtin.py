"""Profiles of servers without a profile file: the documented variables, and the reference server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from lro_conformance.profile.model import Profile, ServerSpec, default_settings
from lro_conformance.profile.proxy import server_index
from lro_conformance.profile.reader import load
from lro_spec.editions import DEFAULT_EDITION

REFERENCE = Path(__file__).with_name("reference.yaml")
PROXIED = Path(__file__).with_name("proxied.yaml")


def profile_for_command(argv: Sequence[str], *, edition: str = DEFAULT_EDITION) -> Profile:
    """The default profile for a command: settings reach the server in the documented variables, and nothing is stored.

    The reference server, ``lro serve`` with any arguments, has a profile of its own: ``reference.yaml``, or
    ``proxied.yaml`` behind ``lro proxy``. It keeps memories only as long as its process runs, so the suite stores its
    own in it, unless the command names a directory (``--data``), which may hold memories of the user.

    Raises `ValueError` for an unknown edition or an empty command.
    """
    if not argv:
        raise ValueError("no command: expected the program that starts the server, and its arguments")
    if is_reference(argv):
        return reference_profile(argv, edition=edition)
    return Profile(ServerSpec(tuple(argv)), edition, settings=default_settings(edition))


def is_reference(command: Sequence[str]) -> bool:
    """True for a command that starts the reference server: one that begins with ``lro serve``, itself or behind
    ``lro proxy``."""
    return tuple(_server(command)[:2]) == ("lro", "serve")


def _server(command: Sequence[str]) -> Sequence[str]:
    """The command without ``lro proxy`` in front."""
    at = server_index(command)
    return command if at is None else command[at:]


def reference_profile(command: Sequence[str], *, edition: str) -> Profile:
    """The profile for ``lro serve`` with these arguments, also behind ``lro proxy``.

    Memories are stored in the server unless the command names a directory, which may hold memories of the user.
    """
    profile = load(REFERENCE if server_index(command) is None else PROXIED, command=command)
    return replace(
        profile,
        edition=edition,
        settings=default_settings(edition),
        seed=None if _names_directory(_server(command)) else profile.seed,
        path=None,  # paths in the command are relative to the working directory, as for any bare command
    )


def _names_directory(command: Sequence[str]) -> bool:
    """True if the command names a directory for memories, other than ``:memory:``."""
    values = [word.removeprefix("--data=") for word in command if word.startswith("--data=")]
    values += [value for flag, value in pairwise(command) if flag == "--data"]
    return any(value != ":memory:" for value in values)
