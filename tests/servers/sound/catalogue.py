"""Sound servers by name, and why a hasty suite would blame each of them.

A sound server is a class derived from the plain one, or from the plain proxy, named for what is unusual about it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from tests.servers.plain import Server
    from tests.servers.proxy import Proxy

    S = TypeVar("S", bound=Server | Proxy)

CHAPTERS = (
    "spelling",
    "answers",
    "estimates",
    "memories",
    "records",
    "descriptors",
    "recipes",
    "files",
    "expiry",
    "settings",
    "protocol",
    "unusual",
    "profiles",
    "proxy",
    "extraction",
)


class Sound:
    """One unusual but conformant server."""

    def __init__(
        self,
        server: type[Server | Proxy],
        why: str,
        profile: str,
        proves: int,
        warns: tuple[str, ...],
        lacks: tuple[str, ...],
    ) -> None:
        self.name = server.__name__
        self.server = server
        self.why = why
        """Why a hasty suite would blame it."""
        self.profile = profile
        """Sections of lro.yaml that replace those of `tests.servers.variants.PROFILE`."""
        self.proves = proves
        """The level that it proves: 3, unless something cannot be observed from outside."""
        self.warns = warns
        """Requirements that may end in a warning: a SHOULD it does without, or an erratum of the text."""
        self.lacks = lacks
        """Requirements of a level that it makes no claim to, and is rightly blamed for."""


SOUND: dict[str, Sound] = {}


def sound(
    why: str, *, profile: str = "", proves: int = 3, warns: tuple[str, ...] = (), lacks: tuple[str, ...] = ()
) -> Callable[[type[S]], type[S]]:
    """Enter a server into the catalogue as one that nobody may blame."""

    def enter(server: type[S]) -> type[S]:
        if server.__name__ in SOUND:
            raise ValueError(f"two sound servers are named {server.__name__}")
        SOUND[server.__name__] = Sound(server, why, profile, proves, warns, lacks)
        return server

    return enter


def sounds() -> dict[str, Sound]:
    """All of them; imports every chapter."""
    for chapter in CHAPTERS:
        __import__(f"tests.servers.sound.{chapter}")
    return SOUND
