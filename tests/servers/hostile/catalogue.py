"""Hostile servers by name: what each tries to do to the suite.

A hostile server is a class derived from the plain server. It may earn any verdict; what it must not do is keep the
suite from its end, take the machine's memory, reach beyond its own folders, or leave something behind.
"""

from __future__ import annotations

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    S = TypeVar("S", bound=Server)

KINDS = ("pipes", "messages", "listing", "schemas", "programs", "paths", "values", "words", "processes")


class Hostile:
    """One hostile server."""

    def __init__(self, server: type[Server], tries: str, profile: str) -> None:
        self.name = server.__name__
        self.server = server
        self.tries = tries
        self.profile = profile
        """Sections of lro.yaml that replace those of `tests.servers.variants.PROFILE`."""


HOSTILE: dict[str, Hostile] = {}


def hostile(tries: str, *, profile: str = "") -> Callable[[type[S]], type[S]]:
    """Enter a server into the catalogue with what it tries."""

    def enter(server: type[S]) -> type[S]:
        if server.__name__ in HOSTILE:
            raise ValueError(f"two hostile servers are named {server.__name__}")
        HOSTILE[server.__name__] = Hostile(server, tries, profile)
        return server

    return enter


def hostiles() -> dict[str, Hostile]:
    """All of them; imports every kind."""
    for kind in KINDS:
        __import__(f"tests.servers.hostile.{kind}")
    return HOSTILE
