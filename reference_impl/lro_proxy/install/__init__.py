"""`lro proxy --install`: putting the proxy into the configuration of a client, and taking it out again."""

from __future__ import annotations

from collections.abc import Sequence

FLAG = "--install"


def is_installation(argv: Sequence[str]) -> bool:
    """True if ``--install`` is among the arguments before ``--``."""
    front = argv[: argv.index("--")] if "--" in argv else argv
    return any(word == FLAG or word.startswith(f"{FLAG}=") for word in front)
