"""Delegation of offloading from a server to a proxy (appendix E of the paper).

The proxy announces that it offloads: in `initialize`, or in each call since MCP 2026-07-28. A server that understands
this returns every result inline, and puts into the result's ``_meta`` the facts that its text does not show: the
operation, the detail level, scores, and all records when the text is cut to a budget. The proxy removes these facts
before the result reaches the client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from lro_reference.results import ResultSet
from lro_spec.editions import DETAILS
from lro_spec.editions import edition as edition_named

CAPABILITY = "lro"
"""The experimental capability by which a proxy is announced."""
META = "lro-spec/results"
"""The member of a result's ``_meta`` that holds the facts for the proxy."""


def announce(holder: dict[str, Any], key: str = "capabilities") -> None:
    """Announce in the client's capabilities, which are the member *key* of *holder*, that a proxy offloads."""
    capabilities = holder.setdefault(key, {})
    if isinstance(capabilities, dict):
        experimental = cast("dict[str, Any]", capabilities).setdefault("experimental", {})
        if isinstance(experimental, dict):
            experimental[CAPABILITY] = {"proxy": True}


def is_announced(capabilities: Any) -> bool:
    """True if a client's `ClientCapabilities` announce a proxy that offloads."""
    return states_proxy({"experimental": getattr(capabilities, "experimental", None)})


def states_proxy(capabilities: Mapping[str, Any]) -> bool:
    """True if capabilities, as JSON, are those of a proxy that offloads, or of a client behind one."""
    experimental = capabilities.get("experimental")
    stated = cast("Mapping[str, Any]", experimental).get(CAPABILITY) if isinstance(experimental, Mapping) else None
    return isinstance(stated, Mapping) and cast("Mapping[str, Any]", stated).get("proxy") is True


def result_meta(results: ResultSet, *, with_records: bool) -> dict[str, Any]:
    """The ``_meta`` of a result for a proxy; *with_records* adds all records, for a text that does not contain them."""
    value = {
        "operation": results.operation,
        "detail": results.detail,
        "schema_version": results.schema_version,
        "query": results.query,
        "line_schema": results.line_schema,
        "scores": [min(results.scores), max(results.scores)] if results.scores else None,
    }
    return {META: value | ({"records": list(results.records)} if with_records else {})}


def has_result_meta(result: Mapping[str, Any]) -> bool:
    """True if a result carries facts for the proxy, which are not for the client."""
    meta = result.get("_meta")
    return isinstance(meta, Mapping) and META in meta


def without_result_meta(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result without the facts for the proxy, as the client receives it."""
    rest = {key: value for key, value in result["_meta"].items() if key != META}
    kept = {key: value for key, value in result.items() if key != "_meta"}
    return kept | ({"_meta": rest} if rest else {})


def result_set(result: Mapping[str, Any], text_records: list[Any] | None, edition: str) -> ResultSet | None:
    """The result set that a server describes in the ``_meta`` of *result*; None if the description is invalid.

    *text_records* are the records in the text of the result, which count if the description has none of its own.
    """
    value: Any = result["_meta"][META]
    match value:
        case {
            "operation": str(operation),
            "detail": str(detail),
            "schema_version": str(version),
            "line_schema": dict(),
        } if operation in edition_named(edition).operations and detail in DETAILS:
            description = cast("dict[str, Any]", value)
        case _:
            return None
    records = description.get("records", text_records)
    query, scores = description.get("query"), description.get("scores")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in cast("list[Any]", records)):
        return None
    numbers = isinstance(scores, list) and all(type(score) in (int, float) for score in cast("list[Any]", scores))
    return ResultSet(
        operation=operation,
        detail=detail,
        records=cast("list[dict[str, Any]]", records),
        line_schema=description["line_schema"],
        schema_version=version,
        query=query if isinstance(query, str) else None,
        scores=cast("list[float]", scores) if numbers else None,
    )
