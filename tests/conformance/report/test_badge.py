"""The badge: what it says of each outcome, to eyes, to screen readers and to shields.io."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lxml import etree

from lro_conformance.report.formats.badge import COLOURS, badge, to_endpoint, to_svg
from tests.support.report_samples import report

FAILED = {1: "proved", 2: "failed", 3: "failed"}
UNPROVED = {1: "unproved", 2: "unproved", 3: "unproved"}


@pytest.mark.parametrize(
    ("changes", "message", "colour"),
    [
        ({}, "level 3 proved", "brightgreen"),
        ({"claimed": 2}, "level 3 proved", "brightgreen"),
        ({"claimed": 2, "achieved": 1, "levels": FAILED}, "level 2 failed", "red"),
        ({"claimed": 1, "achieved": 1, "levels": FAILED}, "level 1 proved", "brightgreen"),
        ({"achieved": 1, "levels": FAILED}, "level 1 proved", "brightgreen"),
        ({"achieved": 2, "implemented": False, "levels": FAILED}, "level 2 proved without LRO", "brightgreen"),
        ({"achieved": 0, "levels": {1: "failed", 2: "failed", 3: "failed"}}, "level 1 failed", "red"),
        ({"achieved": 0, "levels": UNPROVED}, "no level proved", "yellow"),
        ({"achieved": 0, "claimed": 1, "levels": UNPROVED}, "level 1 unproved", "yellow"),
        ({"achieved": 0, "claimed": 1, "levels": UNPROVED | {1: "attested"}}, "level 1 attested", "blue"),
        ({"achieved": 0, "levels": UNPROVED | {1: "attested"}}, "level 1 attested", "blue"),
        ({"achieved": 0, "implemented": None, "levels": UNPROVED}, "no verdict", "lightgrey"),
        ({"achieved": 0, "implemented": None, "claimed": 1, "levels": UNPROVED}, "level 1 unproved", "yellow"),
        ({"failure": "exit code 1", "achieved": 0, "levels": UNPROVED}, "no verdict", "lightgrey"),
    ],
)
def test_says_what_was_proved(changes: dict[str, Any], message: str, colour: str):
    told = badge(report(**changes))
    assert (told.label, told.message, told.colour) == ("lro-6400", message, colour)


def test_svg_says_its_text_to_everybody_and_needs_nothing():
    root = etree.fromstring(to_svg(report()).encode())
    namespace = "{http://www.w3.org/2000/svg}"
    assert (root.attrib["role"], root.attrib["aria-label"]) == ("img", "lro-6400: level 3 proved")
    assert [t.text for t in root.iter(f"{namespace}text")] == ["lro-6400", "level 3 proved"]
    assert root.findtext(f"{namespace}title") == "lro-6400: level 3 proved"
    assert {e.tag.removeprefix(namespace) for e in root.iter()} == {"svg", "title", "clipPath", "rect", "g", "text"}


def test_endpoint_is_what_shields_reads():
    assert json.loads(to_endpoint(report())) == {
        "schemaVersion": 1,
        "label": "lro-6400",
        "message": "level 3 proved",
        "color": "brightgreen",
    }
    assert json.loads(to_endpoint(report(failure="exit code 1")))["isError"] is True


@pytest.mark.parametrize("colour", COLOURS.values())
def test_white_text_can_be_read_on_every_colour(colour: str):
    def light(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (light(colour[n : n + 2]) for n in (1, 3, 5))
    assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) >= 4.5  # WCAG 2, AA
