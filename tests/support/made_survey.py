"""Made-up calls and surveys, as the readings of evidence (`lro_conformance.analysis`) see them."""

from __future__ import annotations

from typing import Any

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.analysis.estimate import Estimates
from tests.support.made import Made

A, B, C = {"id": "a", "title": "A"}, {"id": "b", "title": "B"}, {"id": 3, "title": "C"}


def one(
    characters: int = 400,
    estimate: Any = 100,
    *filed: dict[str, Any],
    scripts: Any = None,
    header: Any = ...,
    **other: Any,
) -> Any:
    """A call as readings see it."""
    file = Made(characters=characters, scripts=scripts or (0, 0, characters), problem=None)
    known: dict[str, Any] = {
        "operation": "recall", "detail": None, "limit": None, "query": "*", "file": file, "estimate": estimate,
        "file_records": list(filed) or [A],
        "header": {"estimated_tokens": estimate} if header is ... else header, "records": None, "outcome": "offloaded",
    }  # fmt: skip
    return Made(**{**known, **other})


FULL = {"id": "a", "memory_type": "m", "namespace": "n", "title": "t", "content": "c", "created": "d"}
LIGHT = {"id": "a", "title": "t"}
MEDIUM = {"id": "a", "title": "t", "summary": "s"}


def survey(*files: Made, details: tuple[str, ...] = ("light", "full"), **other: Any) -> Any:
    """A survey with these files."""
    known: dict[str, Any] = {
        "files": files, "whole": {}, "volatile_operations": (), "repeats": {},
        "operations": {n: Made(details=details) for n in ("recall", "search", "inject")},
    }  # fmt: skip
    return Made(**{**known, **other})


def estimates(*files: Made, **other: Any) -> Estimates:
    """Estimates of a survey with these files."""
    known = survey(*files, **other)
    return Estimates(known, DetailLevels(known))
