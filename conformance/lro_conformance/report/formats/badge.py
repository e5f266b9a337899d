"""Badges: an SVG, and the endpoint JSON of shields.io."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from lro_conformance.judging.results import Report
from lro_conformance.report.sanitize import one_line

COLOURS = {"brightgreen": "#2a7f2e", "blue": "#1f5fa8", "yellow": "#8a6100", "red": "#b3261e", "lightgrey": "#5f6368"}
"""Colours of shields.io by name, darkened so that white text of this size is readable."""

_WIDE_CHARACTERS, _NARROW_CHARACTERS = "mwMW@%—", "fijlrtI1 .,:;-·()|!'"
"""Characters that are clearly wider or narrower than the others."""


@dataclass(frozen=True, slots=True)
class Badge:
    """Label, message and colour of a badge."""

    label: str
    message: str
    colour: str
    """A key of `COLOURS`."""


def badge(report: Report) -> Badge:
    """The badge of a report. It has the edition and the proved level. If a higher level is claimed, it has the verdict
    on the claimed level instead."""
    return Badge(one_line(report.edition, 40), *_message(report))


def to_svg(report: Report) -> str:
    """The badge as a self-contained SVG, readable by screen readers."""
    content = badge(report)
    label, message = escape(content.label), escape(content.message)
    left, right = _width(content.label), _width(content.message)
    text = 'y="14" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {message}">\n'
        f"<title>{label}: {message}</title>\n"
        f'<clipPath id="round"><rect width="{left + right}" height="20" rx="3"/></clipPath>\n'
        f'<g clip-path="url(#round)"><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{COLOURS[content.colour]}"/></g>\n'
        f'<text x="{left / 2:g}" textLength="{left - 12}" {text}>{label}</text>\n'
        f'<text x="{left + right / 2:g}" textLength="{right - 12}" {text}>{message}</text>\n'
        "</svg>\n"
    )


def to_endpoint(report: Report) -> str:
    """The badge as endpoint JSON for shields.io."""
    content = badge(report)
    value = {"schemaVersion": 1, "label": content.label, "message": content.message, "color": content.colour}
    return json.dumps(value | ({"isError": True} if report.failure is not None else {}), indent=2) + "\n"


def _message(report: Report) -> tuple[str, str]:
    if report.failure is not None:
        return "no verdict", "lightgrey"
    claimed = report.claimed
    if claimed is not None and claimed > report.achieved:
        level = report.levels.get(claimed, "unproved")
        return f"level {claimed} {level}", {"failed": "red", "attested": "blue"}.get(level, "yellow")
    if report.implemented is None and claimed is None:  # the exit code is 3, as for a server that could not be observed
        return "no verdict", "lightgrey"
    if report.achieved:
        suffix = "" if report.implemented else " without LRO"
        return f"level {report.achieved} proved{suffix}", "brightgreen"
    if report.levels.get(1) == "attested":
        return "level 1 attested", "blue"
    return ("level 1 failed", "red") if report.levels.get(1) == "failed" else ("no level proved", "yellow")


def _width(text: str) -> int:
    """Approximate width in pixels of a text in Verdana 11, with margins of 6 on both sides.

    The text is stretched or shrunk to this width by ``textLength``.
    """
    return 12 + round(sum(10.5 if c in _WIDE_CHARACTERS else 4.5 if c in _NARROW_CHARACTERS else 7 for c in text))
