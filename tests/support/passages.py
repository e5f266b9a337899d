"""Requirements as the specification's passages list them."""

from __future__ import annotations

FORCE = {"MUST NOT": "MUST", "RECOMMENDED": "SHOULD"}


def ids(listed: str) -> list[str]:
    return [f"LRO-{short}" for short in listed.split()]
