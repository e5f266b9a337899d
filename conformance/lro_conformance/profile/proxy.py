"""Commands that start a proxy in front of a server: the command in the profile, or ``lro proxy``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise

from lro_conformance.profile.model import Profile

_PROGRAM = re.compile(r"lro(\.exe|_conformance|[-_]spec([\[@=<>~!].*)?)?")
"""Matches the names by which `lro` is started: the command, the module, and the package. The package may have a
version, as for `uvx`."""
UPSTREAM, UPSTREAM_CONFIG, UPSTREAM_URL = "{upstream}", "{upstream_config}", "{upstream_url}"


def proxy_command(profile: Profile) -> tuple[str, ...] | None:
    """Return the command that starts the proxy, with a placeholder for the upstream server; None if the server of the
    profile is not a proxy.

    A profile needs no key ``proxy`` if its command is ``lro proxy`` with the command or the address of a server.
    """
    if profile.proxy:
        return profile.proxy
    command = profile.server.command
    begin = server_index(command)
    return _with_address_placeholder(command) if begin is None else (*command[:begin], UPSTREAM)


def _with_address_placeholder(command: Sequence[str]) -> tuple[str, ...] | None:
    """Return a command ``lro proxy --url URL`` with a placeholder for the address; None for any other command."""
    command_words, proxy_position = list(command), proxy_index(command)
    for n, word in enumerate(command_words):
        if proxy_position is None or n < proxy_position:
            continue
        if word.startswith("--url="):
            return (*command_words[:n], f"--url={UPSTREAM_URL}", *command_words[n + 1 :])
        if word == "--url":
            return (*command_words[: n + 1], UPSTREAM_URL, *command_words[n + 2 :])
    return None


def fill_upstream(command: Sequence[str], upstream: Sequence[str], config: str, url: str) -> tuple[str, ...]:
    """Replace the placeholder in a proxy command: by the words of the *upstream* command, by the path of the file that
    names the upstream server (*config*), or by the address of the upstream server (*url*)."""
    words = [part for word in command for part in (upstream if word == UPSTREAM else [word])]
    return tuple(word.replace(UPSTREAM_CONFIG, config).replace(UPSTREAM_URL, url) for word in words)


def with_own_lro(command: Sequence[str]) -> tuple[str, ...]:
    """Return the command with a bare ``lro`` replaced by this installation, so that the PATH does not matter.

    A bare ``lro`` that starts the server behind ``lro proxy`` is replaced, too.
    """
    if (server_begin := server_index(command)) is not None:
        return (*_with_this_python(command[:server_begin]), *with_own_lro(command[server_begin:]))
    return _with_this_python(command)


def _with_this_python(command: Sequence[str]) -> tuple[str, ...]:
    if command[0] != "lro":
        return tuple(command)
    # -P: do not import a json.py from the user's working directory
    return (sys.executable, "-P", "-m", "lro_conformance", *command[1:])


def server_index(command: Sequence[str]) -> int | None:
    """Return the index at which the server's command begins in a command ``lro proxy … -- COMMAND``; None for any other
    command."""
    proxy_position = proxy_index(command)
    if proxy_position is None or "--" not in command[proxy_position:-1]:
        return None
    return list(command).index("--", proxy_position) + 1


def proxy_index(command: Sequence[str]) -> int | None:
    """Return the index of the word ``proxy`` (or ``lro_proxy``) in a command that starts ``lro proxy``; None for any
    other command.

    The proxy may be started by its name or path, as a module, or by another program, as in ``uvx --from lro-spec -- lro
    proxy``.
    """
    for n, (before, word) in enumerate(pairwise(command), 1):
        if word == "proxy" and _PROGRAM.fullmatch(os.path.basename(before)):
            return n
        if before == "-m" and word == "lro_proxy":
            return n
    return None
