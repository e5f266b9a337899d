"""Faults by name: which requirement each breaks, what its blame must say, and what it can still prove.

A fault is a class derived from the plain server or the plain proxy, named for how it is wrong; its docstring says so
in a sentence.
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
    "implemented",
    "threshold",
    "detail",
    "file",
    "content",
    "naming",
    "descriptor",
    "summary",
    "recipes",
    "guidance",
    "inject",
    "cleanup",
    "repeated",
    "fallback",
    "config",
    "protocol",
    "hardening",
    "unusual",
    "explored",
    "proxy",
    "extraction",
)


class Fault:
    """One broken server."""

    def __init__(
        self,
        server: type[Server | Proxy],
        requirement: str,
        says: str,
        proves: int,
        also: tuple[str, ...],
        profile: str,
        explored: bool,
        everywhere: bool,
        long: bool,
    ) -> None:
        self.name = server.__name__
        self.server = server
        self.about = (server.__doc__ or "").strip()
        self.requirement = requirement
        """The one requirement that must fail (or warn, where it is a SHOULD)."""
        self.says = says
        """Occurs in the message of the check that blames it, in any case."""
        self.proves = proves
        """The highest level that it proves in spite of the fault."""
        self.also = also
        """Requirements that the same fault cannot help touching: blaming them too is no error, nor is silence."""
        self.profile = profile
        """Sections of lro.yaml that replace those of `tests.servers.variants.PROFILE`."""
        self.explored = explored
        """True if only the explorer finds it: it shows with some memories, arguments, names or ages alone."""
        self.everywhere = everywhere
        """True if it only shows in trials of other requirements, so that all trials are necessary."""
        self.long = long
        """True if another fault shows in the same check, so that this one is only tried with ``--long``."""


FAULTS: dict[str, Fault] = {}


def fault(
    requirement: str,
    *,
    says: str,
    proves: int,
    also: tuple[str, ...] = (),
    profile: str = "",
    explored: bool = False,
    everywhere: bool = False,
    long: bool = False,
) -> Callable[[type[S]], type[S]]:
    """Enter a server into the catalogue as the offender of one requirement."""

    def enter(server: type[S]) -> type[S]:
        if server.__name__ in FAULTS:
            raise ValueError(f"two faults are named {server.__name__}")
        FAULTS[server.__name__] = Fault(server, requirement, says, proves, also, profile, explored, everywhere, long)
        return server

    return enter


def faults() -> dict[str, Fault]:
    """All of them; imports every chapter."""
    for chapter in CHAPTERS:
        __import__(f"tests.servers.faults.{chapter}")
    return FAULTS
