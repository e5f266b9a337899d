"""Between the proxy and a server that knows it: the proxy says that it offloads, and the server tells what it found.

Such a server leaves offloading to the proxy (appendix E of the paper), and puts into the result's ``_meta`` what its
text does not show: the operation, the detail level, scores, and the whole set where the text is cut to a budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lro_reference.memories import DETAILS
from lro_reference.results import ResultSet
from lro_spec.editions import edition as edition_named

CAPABILITY = "lro"
META = "lro-spec/results"


def announce(params: dict[str, Any]) -> None:
    """Adds to the parameters of `initialize` that a proxy offloads."""
    capabilities = params.setdefault("capabilities", {})
    if isinstance(capabilities, dict):
        experimental = cast("dict[str, Any]", capabilities).setdefault("experimental", {})
        if isinstance(experimental, dict):
            experimental[CAPABILITY] = {"proxy": True}


def announced(capabilities: Any) -> bool:
    """Whether a client, by its `ClientCapabilities`, is a proxy that offloads."""
    experimental: Mapping[str, Any] = getattr(capabilities, "experimental", None) or {}
    said = experimental.get(CAPABILITY)
    return isinstance(said, Mapping) and cast("Mapping[str, Any]", said).get("proxy") is True


def told(results: ResultSet, *, whole: bool) -> dict[str, Any]:
    """The ``_meta`` of a result for a proxy; with *whole* the records, too, since the text is not all of them."""
    value = {
        "operation": results.operation,
        "detail": results.detail,
        "schema_version": results.schema_version,
        "query": results.query,
        "line_schema": results.line_schema,
        "scores": [min(results.scores), max(results.scores)] if results.scores else None,
    }
    return {META: value | ({"records": list(results.records)} if whole else {})}


def has_told(result: Mapping[str, Any]) -> bool:
    """Whether a server has told the proxy something that is not for the client."""
    meta = result.get("_meta")
    return isinstance(meta, Mapping) and META in meta


def without(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as it is for the client."""
    rest = {key: value for key, value in result["_meta"].items() if key != META}
    kept = {key: value for key, value in result.items() if key != "_meta"}
    return kept | ({"_meta": rest} if rest else {})


def result_set(result: Mapping[str, Any], shown: list[Any] | None, edition: str) -> ResultSet | None:
    """What the server says it found; *shown* are the records of the text. None where it makes no sense."""
    value: Any = result["_meta"][META]
    match value:
        case {
            "operation": str(operation),
            "detail": str(detail),
            "schema_version": str(version),
            "line_schema": dict(),
        } if operation in edition_named(edition).operations and detail in DETAILS:
            said = cast("dict[str, Any]", value)
        case _:
            return None
    records = said.get("records", shown)
    query, scores = said.get("query"), said.get("scores")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in cast("list[Any]", records)):
        return None
    numbers = isinstance(scores, list) and all(type(score) in (int, float) for score in cast("list[Any]", scores))
    return ResultSet(
        operation=operation,
        detail=detail,
        records=cast("list[dict[str, Any]]", records),
        line_schema=said["line_schema"],
        schema_version=version,
        query=query if isinstance(query, str) else None,
        scores=cast("list[float]", scores) if numbers else None,
    )
