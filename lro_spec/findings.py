"""What validation finds: one deviation, where it is, and which requirement it breaks."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lro_spec.schema_errors import SchemaError

Severity = Literal["error", "warning"]

_SHOWN = 120
_EXCERPT = 120
_BEFORE = 50

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_WRONG = {
    "required": "is missing",
    "type": "has the wrong type",
    "const": "has the wrong value",
    "enum": "has the wrong value",
    "pattern": "has the wrong form",
    "minLength": "is empty",
    "minItems": "has too few items",
    "maxItems": "has too many items",
    "minimum": "is too low",
}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The line that a finding is about, or the part of it around the column."""

    text: str
    mark: int
    """The place in `text` that is meant, from 0; its length, where that is behind the end."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation from a requirement."""

    rule: str
    """The id of the requirement that it breaks, for example ``LRO-FILE-06``."""
    pointer: str
    """A JSON pointer (RFC 6901) to the value, within its line where there are lines; "" is the whole."""
    message: str
    """What is wrong, in one sentence."""
    expected: str
    observed: str
    hint: str = ""
    """How to mend it."""
    line: int | None = None
    """The line of the file, from 1; the header is line 1. None where there are no lines."""
    column: int | None = None
    """The column in that line, from 1, in characters. None where it is not known."""
    severity: Severity = "error"
    """An *error* breaks the requirement; a *warning* is worth a look and breaks nothing."""
    excerpt: Excerpt | None = None
    """What is written there. None where there is no text, or no place in it."""
    path: str | None = None
    """The file that it is in, where that is not what was handed over but what a descriptor led to."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        warning = "warning: " if self.severity == "warning" else ""
        where = f" {self.pointer}" if self.pointer else ""
        hint = f" — {self.hint}" if self.hint else ""
        text = f"{place + ': ' if place else ''}{warning}{self.rule}{where}: {self.sentence}{hint}"
        return _UNPRINTABLE.sub(_escaped, text)

    @property
    def sentence(self) -> str:
        """What is wrong, what was expected and what came."""
        if not self.expected:
            return self.message
        return f"{self.message}: expected {self.expected}, got {self.observed}"


def _escaped(character: re.Match[str]) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character[0], f"\\u{ord(character[0]):04x}")


def shown(value: object) -> str:
    """A value as JSON, cut to what fits a line of a report."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):  # no JSON value; nested too deep
        text = f"a {type(value).__name__}"
    return cut(text)


def cut(text: str) -> str:
    """A text, cut to what fits a line of a report."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def excerpt(line: str, at: int) -> Excerpt:
    """The part of a line around a place in it (from 0)."""
    start = max(0, at - _BEFORE) if len(line) > _EXCERPT else 0
    return Excerpt(line[start : start + _EXCERPT], min(at, len(line)) - start)


def in_text(finding: Finding, text: str, at: int) -> Finding:
    """A finding with the line, the column and the excerpt of a place in a text of any number of lines."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)].removesuffix("\r")
    number = text.count("\n", 0, at) + 1
    return replace(finding, line=number, column=at - start + 1, excerpt=excerpt(line, at - start))


def pointer(path: list[str | int]) -> str:
    """The JSON pointer of a path of keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def from_schema(error: SchemaError, rule: str, whole: str, hint: str = "") -> Finding:
    """A violation of a schema as a finding; *whole* names the document where the violation is the document's own."""
    name = ".".join(str(part) for part in error.path) or whole
    message = f"{name} {_WRONG.get(error.keyword, 'is not as required')}"
    return Finding(rule, pointer(list(error.path)), message, error.expected, error.observed, hint)
