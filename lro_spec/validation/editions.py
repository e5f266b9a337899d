"""Findings translated to an edition other than the default one.

Documents are validated by schemas and rules of the default edition. A finding about something that the other edition
does not require is dropped; if the edition only recommends it, the finding becomes a warning; if the edition requires
it under a different id, the finding gets that id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lro_spec.catalogue import catalogue
from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.findings import Finding, Kind, revise

_OWN_RULE = {"/guidance": "LRO-GUI-01", "/line_schema": "LRO-DESC-14", "/jq_recipes": "LRO-REC-13"}
"""Fields of a descriptor that an edition may require only from level 2 on, as the paper does; each with its
requirement."""


def for_edition(findings: Iterable[Finding], edition: Edition) -> Iterator[Finding]:
    """The findings that apply to an edition, with the edition's requirements and severities."""
    if edition.name == DEFAULT_EDITION:
        yield from findings
        return
    keywords = {r.id: r.keyword for r in catalogue(edition.name)}
    for finding in findings:
        if finding.rule == "json":  # unreadable under any edition
            yield finding
            continue
        one = _remap(finding, edition)
        if one is None or one.rule not in keywords:
            continue
        yield one if keywords[one.rule] == "MUST" else revise(one, severity="warning")


def _remap(finding: Finding, edition: Edition) -> Finding | None:
    """The finding under the requirement that it breaks in this edition; None if it breaks none."""
    if finding.rule != "LRO-FILE-02" and not finding.rule.startswith("LRO-DESC"):
        return finding  # most findings about lines end here: reading their other fields would compute the details
    missing = finding.kind is Kind.MISSING_FIELD
    if finding.rule == "LRO-FILE-02" and finding.pointer == "/type" and missing and not edition.marked_header:
        return None
    free = finding.pointer.startswith("/summary/top_namespaces") and edition.top_namespaces is None and not missing
    if free and finding.kind in (Kind.WRONG_TYPE, Kind.OUT_OF_BOUNDS):
        return None
    if finding.rule != "LRO-DESC-01":
        return finding
    top, _, inner = finding.pointer.removeprefix("/").partition("/")
    if top == "summary" and inner:
        field = inner.partition("/")[0]
        return None if free or (missing and field not in edition.summary_fields) else finding
    if not missing or top in edition.descriptor_fields:
        return finding
    rule = _OWN_RULE.get(finding.pointer)
    hint = "this requirement binds from level 2 on"
    return None if rule is None else replace(finding, rule=rule, severity="warning", hint=hint)
