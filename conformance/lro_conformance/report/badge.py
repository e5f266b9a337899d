"""The badge: an SVG of our own, and the JSON by which shields.io draws one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from lro_conformance.report.model import Report
from lro_conformance.report.text import one_line

COLOURS = {"brightgreen": "#2a7f2e", "blue": "#1f5fa8", "yellow": "#8a6100", "red": "#b3261e", "lightgrey": "#5f6368"}
"""The names of shields.io, and what stands for them here: dark enough for white text of this size."""

_WIDE, _NARROW = "mwMW@%—", "fijlrtI1 .,:;-·()|!'"


@dataclass(frozen=True, slots=True)
class Badge:
    """What a badge says."""

    label: str
    message: str
    colour: str
    """A key of `COLOURS`."""


def badge(report: Report) -> Badge:
    """The level that was proved, or what came of the one that was claimed."""
    return Badge(one_line(report.edition, 40), *_said(report))


def to_svg(report: Report) -> str:
    """The badge as an SVG that needs nothing else and says its text to a screen reader."""
    told = badge(report)
    label, message = escape(told.label), escape(told.message)
    left, right = _width(told.label), _width(told.message)
    text = 'y="14" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {message}">\n'
        f"<title>{label}: {message}</title>\n"
        f'<clipPath id="round"><rect width="{left + right}" height="20" rx="3"/></clipPath>\n'
        f'<g clip-path="url(#round)"><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{COLOURS[told.colour]}"/></g>\n'
        f'<text x="{left / 2:g}" textLength="{left - 12}" {text}>{label}</text>\n'
        f'<text x="{left + right / 2:g}" textLength="{right - 12}" {text}>{message}</text>\n'
        "</svg>\n"
    )


def to_endpoint(report: Report) -> str:
    """The badge as the JSON of an endpoint of shields.io."""
    told = badge(report)
    said = {"schemaVersion": 1, "label": told.label, "message": told.message, "color": told.colour}
    return json.dumps(said | ({"isError": True} if report.failure is not None else {}), indent=2) + "\n"


def _said(report: Report) -> tuple[str, str]:
    if report.failure is not None:
        return "no verdict", "lightgrey"
    claimed = report.claimed
    if claimed is not None and claimed > report.achieved:
        found = report.levels.get(claimed, "unproved")
        return f"level {claimed} {found}", {"failed": "red", "attested": "blue"}.get(found, "yellow")
    if report.achieved:
        without = "" if report.implemented else " without LRO"
        return f"level {report.achieved} proved{without}", "brightgreen"
    if report.levels.get(1) == "attested":
        return "level 1 attested", "blue"
    return ("level 1 failed", "red") if report.levels.get(1) == "failed" else ("no level proved", "yellow")


def _width(text: str) -> int:
    """About how many pixels the text takes in Verdana 11, and six on each side; the SVG fits the letters to it."""
    return 12 + round(sum(10.5 if c in _WIDE else 4.5 if c in _NARROW else 7 for c in text))
