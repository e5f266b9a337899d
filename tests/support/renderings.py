"""What every rendering of a report is held to."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from typing import Any

import cmarkgfm
from cmarkgfm.cmark import Options
from jsonschema import Draft4Validator
from lxml import etree, html

from tests.support.paths import DATA

UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff\U000e0041]"
)


LOG_COMMAND = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.MULTILINE)


def shown(markdown: str) -> etree._Element:
    made = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    return html.fragment_fromstring(made, create_parent="div")


def elements(made: etree._Element) -> set[str]:
    return {e.tag for e in made.iter() if isinstance(e.tag, str)}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


SCHEMA = DATA / "sarif-schema-2.1.0.json"


@cache
def validator() -> Draft4Validator:
    """The official schema; `lro validate` and `lro certify` are held to it."""
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def assert_sarif(made: Any) -> None:
    assert [f"{list(e.absolute_path)}: {e.message}" for e in validator().iter_errors(made)] == []
