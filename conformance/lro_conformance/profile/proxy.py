"""Starting a proxy in front of a server: by the command of the profile, or by ``lro proxy``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise

from lro_conformance.profile.model import Profile

_PROGRAM = re.compile(r"lro(\.exe|_conformance|[-_]spec([\[@=<>~!].*)?)?")
"""Names under which `lro` is started: the command, the module, and the package, also with a version for `uvx`."""
UPSTREAM, UPSTREAM_CONFIG, UPSTREAM_URL = "{upstream}", "{upstream_config}", "{upstream_url}"


def proxy_command(profile: Profile) -> tuple[str, ...] | None:
    """Command that starts the proxy, with a placeholder for its upstream; None if the server is not a proxy.

    A profile needs no key ``proxy`` if its command is ``lro proxy`` with the command or the address of a server.
    """
    if profile.proxy:
        return profile.proxy
    at = server_index(profile.server.command)
    return _at_an_address(profile.server.command) if at is None else (*profile.server.command[:at], UPSTREAM)


def _at_an_address(command: Sequence[str]) -> tuple[str, ...] | None:
    """The command of ``lro proxy --url URL`` with a placeholder for the address; None for any other command."""
    words, begin = list(command), proxy_index(command)
    for n, word in enumerate(words):
        if begin is None or n < begin:
            continue
        if word.startswith("--url="):
            return (*words[:n], f"--url={UPSTREAM_URL}", *words[n + 1 :])
        if word == "--url":
            return (*words[: n + 1], UPSTREAM_URL, *words[n + 2 :])
    return None


def fill_upstream(command: Sequence[str], upstream: Sequence[str], config: str, url: str) -> tuple[str, ...]:
    """Replace the placeholder in a proxy command by what it stands for: the words of the *upstream* command, the path
    of its *config*, or its address."""
    words = [part for word in command for part in (upstream if word == UPSTREAM else [word])]
    return tuple(word.replace(UPSTREAM_CONFIG, config).replace(UPSTREAM_URL, url) for word in words)


def with_own_lro(command: Sequence[str]) -> tuple[str, ...]:
    """The command with a bare ``lro`` replaced by this installation, whatever is on the PATH.

    The server behind ``lro proxy`` is replaced in the same way.
    """
    if (at := server_index(command)) is not None:
        return (*_own(command[:at]), *with_own_lro(command[at:]))
    return _own(command)


def _own(command: Sequence[str]) -> tuple[str, ...]:
    if command[0] != "lro":
        return tuple(command)
    # -P: do not import a json.py from the user's working directory
    return (sys.executable, "-P", "-m", "lro_conformance", *command[1:])


def server_index(command: Sequence[str]) -> int | None:
    """Index at which the server's command begins in a command ``lro proxy … -- COMMAND``; None for any other
    command."""
    begin = proxy_index(command)
    if begin is None or "--" not in command[begin:-1]:
        return None
    return list(command).index("--", begin) + 1


def proxy_index(command: Sequence[str]) -> int | None:
    """Index of the word ``proxy`` (or ``lro_proxy``) in a command that starts ``lro proxy``; None for any other
    command.

    It may be started by its name or path, as a module, or by another program: ``uvx --from lro-spec -- lro proxy``.
    """
    for n, (before, word) in enumerate(pairwise(command), 1):
        if word == "proxy" and _PROGRAM.fullmatch(os.path.basename(before)):
            return n
        if before == "-m" and word == "lro_proxy":
            return n
    return None
