"""JSON files of the benchmark, each an object that names its format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast


def read_object(path: Path, format: str) -> dict[str, Any]:
    """The object in a file of this format. Raises `OSError`, and `ValueError` that names the file."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{path}: not JSON: {problem}") from None
    if not isinstance(found, dict) or cast("dict[str, Any]", found).get("format") != format:
        raise ValueError(f"{path}: expected an object of format {format}")
    return cast("dict[str, Any]", found)
