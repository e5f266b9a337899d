"""An object without one large array, as records: each member, or each item of a large one, with the member's name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

_LONG = 1024


def members(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """``{"member", "value"}`` for each member; arrays by their items and long texts by their lines, numbered from 1."""
    for key, member in value.items():
        if isinstance(member, list) and len(cast("list[Any]", member)) > 1:
            for n, item in enumerate(cast("list[Any]", member), 1):
                yield {"member": key, "n": n, "value": item}
        elif isinstance(member, str) and len(member) > _LONG:
            for n, line in enumerate(member.split("\n"), 1):
                yield {"member": key, "n": n, "text": line}
        else:
            yield {"member": key, "value": member}
