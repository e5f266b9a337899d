"""The JSON Schemas of the package (draft 2020-12), by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

SCHEMA_NAMES: tuple[str, ...] = (
    "header",
    "line",
    "descriptor",
    "profile",
    "report",
    "baseline",
    "bench-report",
    "vectors",
    "weights",
)
"""Names of the schemas."""

# In a wheel the schemas are inside the package; in a checkout they are in a folder beside it.
_FOLDERS = (Path(__file__).parents[1] / "schemas", Path(__file__).parents[2] / "schemas")


@cache
def schema_text(name: str) -> str:
    """The text of the schema, for printing. Raises `ValueError` for a name not in `SCHEMA_NAMES`."""
    if name not in SCHEMA_NAMES:
        raise ValueError(f"there is no schema {name!r}: expected one of {', '.join(SCHEMA_NAMES)}")
    for folder in _FOLDERS:
        path = folder / f"{name}.schema.json"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError(f"{name}.schema.json is not in {' or '.join(map(str, _FOLDERS))}: reinstall lro-spec")


@cache
def json_schema(name: str) -> dict[str, Any]:
    """The schema of this name.

    The object is shared: do not change it. Raises `ValueError` for a name not in `SCHEMA_NAMES`.
    """
    return cast("dict[str, Any]", json.loads(schema_text(name)))
