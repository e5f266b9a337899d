"""Results that another program has already offloaded, in a form of its own: the proxy leaves them unchanged.

Such a result is called a pointer. If it were offloaded again, its reader would need one more step to see what the other
program says about its file. LRO's own descriptors are found by `lro_spec.discovery`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

_META_KEYS = frozenset(("tt.dust/offload",))
"""Keys in the ``_meta`` of a result. Any of them shows that the result is a pointer, here one of Dust."""
_KEY_SETS = (
    frozenset(("__dust_offloaded__",)),
    frozenset(("payloadPath", "payloadPreview")),  # GitHub's MCP gateway
    frozenset(("outputId", "outputFilePath")),  # repomix
)
"""Sets of keys. An object is a pointer if it has all keys of one set."""
_BEGINNINGS = ("<persisted-output>",)
"""Beginnings of texts that are pointers, here those of Claude Code."""
MARKS = tuple(
    sorted(key.encode() for keys in (_META_KEYS, *_KEY_SETS) for key in keys)
    + [beginning.encode() for beginning in _BEGINNINGS]
)
"""The JSON of every pointer contains at least one of these."""


def is_pointer(result: Mapping[str, Any]) -> bool:
    """True if a result, given as JSON, is a pointer to what another program has stored."""
    meta, structured = result.get("_meta"), result.get("structuredContent")
    if isinstance(meta, dict) and not _META_KEYS.isdisjoint(cast("dict[str, Any]", meta)):
        return True
    texts = list(_texts(result.get("content")))
    if any(text.lstrip().startswith(_BEGINNINGS) for text in texts):
        return True
    return any(keys <= value.keys() for value in map(_object, (structured, *texts)) for keys in _KEY_SETS)


def _texts(content: object) -> Iterator[str]:
    for block in cast("list[Any]", content) if isinstance(content, list) else []:
        text = cast("dict[str, Any]", block).get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield text


def _object(value: object) -> Mapping[str, Any]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
