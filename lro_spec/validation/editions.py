"""Findings translated to an edition other than the default one.

Documents are validated by schemas and rules of the default edition. A finding is dropped if it is about something that
the other edition does not require. It becomes a warning if the edition only recommends this, and it gets a different id
if the edition requires this under a different id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lro_spec.catalogue import catalogue
from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.findings import Finding, Kind, revise

_RULE_BY_FIELD = {"/guidance": "LRO-GUI-01", "/line_schema": "LRO-DESC-14", "/jq_recipes": "LRO-REC-13"}
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
        remapped = _remap(finding, edition)
        if remapped is None or remapped.rule not in keywords:
            continue
        yield remapped if keywords[remapped.rule] == "MUST" else revise(remapped, severity="warning")


def _remap(finding: Finding, edition: Edition) -> Finding | None:
    """Return the finding under the requirement that it breaks in this edition, or None if it breaks none."""
    if finding.rule != "LRO-FILE-02" and not finding.rule.startswith("LRO-DESC"):
        return finding  # most findings about lines return here, before a lazy field is read and computed
    missing = finding.kind is Kind.MISSING_FIELD
    if finding.rule == "LRO-FILE-02" and finding.pointer == "/type" and missing and not edition.marked_header:
        return None
    is_free_form = (
        finding.pointer.startswith("/summary/top_namespaces") and edition.top_namespaces is None and not missing
    )
    if is_free_form and finding.kind in (Kind.WRONG_TYPE, Kind.OUT_OF_BOUNDS):
        return None
    if finding.rule != "LRO-DESC-01":
        return finding
    top, _, inner = finding.pointer.removeprefix("/").partition("/")
    if top == "summary" and inner:
        field = inner.partition("/")[0]
        return None if is_free_form or (missing and field not in edition.summary_fields) else finding
    if not missing or top in edition.descriptor_fields:
        return finding
    rule = _RULE_BY_FIELD.get(finding.pointer)
    hint = "this requirement binds from level 2 on"
    return None if rule is None else replace(finding, rule=rule, severity="warning", hint=hint)
