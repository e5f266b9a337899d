"""Servers of other editions and protocols by name: the sound ones, and those with one fault of that kind.

Each is a class derived from a plain server of its edition; its docstring says what it is in a sentence.
"""

from __future__ import annotations

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    S = TypeVar("S", bound=Server)

CHAPTERS = ("lro_1600", "lro_paper", "eras")


class Variant:
    """One server, and what is to be found of it by its edition."""

    def __init__(
        self,
        server: type[Server],
        edition: str,
        profile: str,
        proves: int,
        requirement: str | None,
        says: str,
        also: tuple[str, ...],
        warns: tuple[str, ...],
    ) -> None:
        self.name = server.__name__
        self.server = server
        self.about = (server.__doc__ or "").strip()
        self.edition = edition
        self.profile = f"edition: {edition}\n{profile}"
        """Sections of lro.yaml that replace those of `tests.servers.variants.PROFILE`."""
        self.proves = proves
        """The highest level that it proves."""
        self.requirement = requirement
        """The one requirement that must not be met; None for a sound server."""
        self.says = says
        """Occurs in the message of the check that blames it, in any case."""
        self.also = also
        """Requirements that the same fault cannot help touching."""
        self.warns = warns
        """Requirements that may end in a warning: a SHOULD it does without, or an erratum of the text."""


VARIANTS: dict[str, Variant] = {}


def _entering(edition: str, profile: str, proves: int, *rest: object) -> Callable[[type[S]], type[S]]:
    def enter(server: type[S]) -> type[S]:
        if server.__name__ in VARIANTS:
            raise ValueError(f"two servers are named {server.__name__}")
        VARIANTS[server.__name__] = Variant(server, edition, profile, proves, *rest)  # type: ignore[arg-type]
        return server

    return enter


def sound(
    edition: str, *, profile: str = "", proves: int = 3, warns: tuple[str, ...] = ()
) -> Callable[[type[S]], type[S]]:
    """Enter a server that nobody may blame by this edition."""
    return _entering(edition, profile, proves, None, "", (), warns)


def fault(
    edition: str, requirement: str, *, says: str, proves: int, also: tuple[str, ...] = (), profile: str = ""
) -> Callable[[type[S]], type[S]]:
    """Enter a server as the offender of one requirement of this edition."""
    return _entering(edition, profile, proves, requirement, says, also, ())


def variants() -> dict[str, Variant]:
    """All of them; imports every chapter."""
    for chapter in CHAPTERS:
        __import__(f"tests.servers.editions.{chapter}")
    return VARIANTS
