"""JSON files of the benchmark. Each is an object whose member ``format`` names its format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast


def read_object(path: Path, format: str) -> dict[str, Any]:
    """The object in a file of this format.

    Raises `OSError` if the file cannot be read, and `ValueError`, whose message has the path, if it is something else.
    """
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{path}: not JSON: {problem}") from None
    if not isinstance(value, dict) or cast("dict[str, Any]", value).get("format") != format:
        raise ValueError(f"{path}: expected an object of format {format}")
    return cast("dict[str, Any]", value)
