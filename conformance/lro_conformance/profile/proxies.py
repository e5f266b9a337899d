"""How a proxy is started in front of another server: what the profile says, or what is known of ``lro proxy``."""

from __future__ import annotations

from collections.abc import Sequence

from lro_conformance.profile.launching import behind_proxy
from lro_conformance.profile.model import Profile

UPSTREAM, UPSTREAM_CONFIG = "{upstream}", "{upstream_config}"


def proxy_command(profile: Profile) -> tuple[str, ...] | None:
    """The words that start the proxy, with a placeholder for the server behind it; None where the server is no proxy.

    A profile without the key ``proxy`` is one of a proxy where its command is that of ``lro proxy``.
    """
    if profile.proxy:
        return profile.proxy
    at = behind_proxy(profile.server.command)
    return None if at is None else (*profile.server.command[:at], UPSTREAM)


def in_front(command: Sequence[str], upstream: Sequence[str], config: str) -> tuple[str, ...]:
    """The same words with a server in its place: its own words, or the path of a file that has them."""
    words = [part for word in command for part in (upstream if word == UPSTREAM else [word])]
    return tuple(word.replace(UPSTREAM_CONFIG, config) for word in words)
