"""Profiles for servers that have no profile file: the default profile, and the profiles of the reference server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from lro_conformance.profile.model import Profile, ServerSpec, default_settings
from lro_conformance.profile.proxy import server_index
from lro_conformance.profile.reader import load, variables_apart
from lro_spec.editions import DEFAULT_EDITION

REFERENCE = Path(__file__).with_name("reference.yaml")
PROXIED = Path(__file__).with_name("proxied.yaml")


def profile_for_command(argv: Sequence[str], *, edition: str = DEFAULT_EDITION) -> Profile:
    """Return the default profile for a command. Settings are given to the server in the environment variables that the
    edition documents, and the suite stores nothing in the server. Variables that ``env`` sets at the beginning of the
    command are kept apart from it, so that another command in its place gets them, too.

    The reference server, ``lro serve`` with any arguments, has a profile of its own: ``reference.yaml``, or
    ``proxied.yaml`` if it is behind ``lro proxy``. That server keeps memories only as long as its process runs, so the
    suite stores its own memories in it. If the command names a directory (``--data``), the suite stores none, because
    the directory may hold memories of the user.

    Raises `ValueError` for an unknown edition or an empty command.
    """
    if not argv:
        raise ValueError("no command: expected the program that starts the server, and its arguments")
    if is_reference(argv):
        return reference_profile(argv, edition=edition)
    variables, program = variables_apart(argv)
    return Profile(ServerSpec(tuple(program), variables), edition, settings=default_settings(edition))


def is_reference(command: Sequence[str]) -> bool:
    """True for a command that starts the reference server: the command, or the part of it behind ``lro proxy``, begins
    with ``lro serve``."""
    return tuple(_server(command)[:2]) == ("lro", "serve")


def _server(command: Sequence[str]) -> Sequence[str]:
    """Return the command of the server itself, without ``lro proxy`` in front."""
    index = server_index(command)
    return command if index is None else command[index:]


def reference_profile(command: Sequence[str], *, edition: str) -> Profile:
    """Return the profile for a command that starts ``lro serve``, itself or behind ``lro proxy``.

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
