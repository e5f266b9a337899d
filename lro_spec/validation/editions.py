"""Findings as an edition beside the default one has them.

Documents are judged by schemas and rules that are the default edition's; what another edition does not ask for is left
out here, what it only recommends is a warning, and what it asks for under another requirement gets that one's id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lro_spec.catalogue import catalogue
from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.findings import Finding, Kind

_OWN_RULE = {"/guidance": "LRO-GUI-01", "/line_schema": "LRO-DESC-14", "/jq_recipes": "LRO-REC-13"}
"""Fields of a descriptor that the default edition asks for at once, and others at a level of their own."""


def as_held(findings: Iterable[Finding], text: Edition) -> Iterator[Finding]:
    """Those that are deviations by *text*, under its requirements and with their force."""
    if text.name == DEFAULT_EDITION:
        yield from findings
        return
    keywords = {r.id: r.keyword for r in catalogue(text.name)}
    for found in findings:
        if found.rule == "json":  # what could not be read at all, whatever the text says
            yield found
            continue
        one = _reassigned(found, text)
        if one is None or one.rule not in keywords:
            continue
        yield one if keywords[one.rule] == "MUST" else replace(one, severity="warning")


def _reassigned(found: Finding, text: Edition) -> Finding | None:
    """The finding under the requirement that it breaks in this edition; None where it breaks none."""
    missing = found.kind is Kind.MISSING_FIELD
    if found.rule == "LRO-FILE-02" and found.pointer == "/type" and missing and not text.marked_header:
        return None
    free = found.pointer.startswith("/summary/top_namespaces") and text.top_namespaces is None and not missing
    if free and found.kind in (Kind.WRONG_TYPE, Kind.OUT_OF_BOUNDS):
        return None
    if found.rule != "LRO-DESC-01":
        return found
    top, _, inner = found.pointer.removeprefix("/").partition("/")
    if top == "summary" and inner:
        field = inner.partition("/")[0]
        return None if free or (missing and field not in text.summary_fields) else found
    if not missing or top in text.descriptor_fields:
        return found
    rule = _OWN_RULE.get(found.pointer)
    return None if rule is None else replace(found, rule=rule, severity="warning", hint="it binds from level 2 on")
