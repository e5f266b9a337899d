"""Findings of validation. A finding describes one deviation, its place, and the requirement that it breaks.

A file may have a finding in every line, and most of these findings are only counted. So a finding may be lazy: at first
it has only the fields that are needed for counting (rule, kind, severity, line, path), and it computes its other fields
when one of them is first read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

Severity = Literal["error", "warning"]

MAX_LAZY_BYTES = 64 * 1024
"""The longest line that a lazy finding may refer to; findings in longer lines are computed at once."""

_MAX_EXCERPT = 120
"""Largest number of characters of an excerpt."""
_BEFORE_VALUE = 50
"""If a line is longer than an excerpt, its excerpt begins this many characters before the value."""

_LAZY_FIELDS = frozenset({"pointer", "message", "expected", "observed", "hint", "column", "excerpt"})

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Kind(StrEnum):
    """Kinds of deviations. Programs should decide by kind; the wording of a finding may change with any release."""

    # a value and the schema of its document
    MISSING_FIELD = "missing-field"
    UNKNOWN_FIELD = "unknown-field"
    WRONG_TYPE = "wrong-type"
    WRONG_VALUE = "wrong-value"
    WRONG_FORM = "wrong-form"
    """A text does not match the required pattern."""
    OUT_OF_BOUNDS = "out-of-bounds"
    """Too low or too high; too short or too long; too few or too many."""
    INVALID = "invalid"
    """Anything else that is not as required."""

    # bytes, lines and JSON
    NOT_UTF8 = "not-utf8"
    BYTE_ORDER_MARK = "byte-order-mark"
    NOT_JSON = "not-json"
    CUT_OFF = "cut-off"
    TOO_DEEP = "too-deep"
    TOO_LARGE = "too-large"
    BAD_NUMBER = "bad-number"
    """NaN, an infinity, or a number beyond the range of a double."""
    REPEATED_KEY = "repeated-key"
    LONE_SURROGATE = "lone-surrogate"
    BLANK_LINE = "blank-line"
    LINE_ENDING = "line-ending"
    DAMAGED = "damaged"
    """Compressed data that cannot be unpacked."""

    # files
    EMPTY_FILE = "empty-file"
    NO_HEADER = "no-header"
    SECOND_HEADER = "second-header"
    HEADER_TOO_LATE = "header-too-late"
    REPEATED_RECORD = "repeated-record"
    ABSENT_FIELDS = "absent-fields"
    """Fields of full detail that no record of the file has."""
    BAD_NAME = "bad-name"
    """A file's name that does not follow the convention."""
    BAD_TIME = "bad-time"
    NO_FILE = "no-file"
    UNREADABLE_FILE = "unreadable-file"
    MOVED_FILE = "moved-file"
    """The file is not where the descriptor says, but beside the descriptor."""

    # contradictions between two places
    CONTRADICTION = "contradiction"
    NAME_AGAINST_SUMMARY = "name-against-summary"
    """The file's name and the summary state different operations; only the file's header shows which is wrong."""
    NOT_AS_ASKED = "not-as-asked"
    """An operation or a detail level other than that of the call."""
    MISQUOTED = "misquoted"
    """Guidance with the same error as the specification's own wording."""
    UNKNOWN_WORD = "unknown-word"
    """A word that the specification does not list."""
    REPEATED_ITEM = "repeated-item"
    WRONG_ORDER = "wrong-order"
    PLACEHOLDER = "placeholder"
    UNREPEATABLE = "unrepeatable"
    """A command whose output depends on more than the file."""
    ABSENT_SCORE = "absent-score"
    """A command that refers to the score, which is never in the file."""
    BLANK_TEXT = "blank-text"
    TOO_LITTLE = "too-little"
    """Guidance that refers to neither the file nor the recipes nor a tool."""
    ORDER = "order"
    """Guidance that gives an order where it may only advise."""
    PAYLOAD = "payload"
    """Records in the descriptor, which is there to replace them."""

    # line schemas
    NO_SCHEMA = "no-schema"
    VACUOUS_SCHEMA = "vacuous-schema"
    DANGLING_REFERENCE = "dangling-reference"
    BAD_PATTERN = "bad-pattern"
    SCHEMA_VIOLATION = "schema-violation"
    """A record that does not satisfy the line schema of its descriptor."""

    # recipes
    RECIPE_COUNT = "recipe-count"
    MISSING_RECIPE = "missing-recipe"
    OTHER_FILE = "other-file"
    """A command that does not read the descriptor's file."""
    BAD_COMMAND = "bad-command"
    BAD_PROGRAM = "bad-program"
    READS_HEADER = "reads-header"
    WRONG_OUTPUT = "wrong-output"
    FAILS_AS_PRINTED = "fails-as-printed"
    """A recipe that fails because the specification's own command fails on this file (an erratum)."""
    OTHER_RECIPE = "other-recipe"
    """Descriptions that belong to other recipes."""
    BAD_LITERAL = "bad-literal"
    """A recipe that fails because of the text inserted into it."""

    NOT_EVALUATED = "not-evaluated"
    """Something could not be evaluated here; nothing is known to be wrong."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The line that a finding is about, or the part of it around the column."""

    text: str
    mark: int
    """The index of the value in `text`, from 0; the length of `text` if the value is missing at its end."""


class _LazyFields:
    """Fields that are computed together when one of them is first read."""

    __slots__ = ("_compute",)

    _compute: Callable[[], Finding] | None

    if not TYPE_CHECKING:  # otherwise a type checker would accept any name as an attribute

        def __getattr__(self, name: str) -> Any:  # called for slots that are not set
            if name not in _LAZY_FIELDS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if self._compute is not None:
                details = self._compute()
                for each in _LAZY_FIELDS:
                    object.__setattr__(self, each, getattr(details, each))
                object.__setattr__(self, "_compute", None)  # releases the line
            return object.__getattribute__(self, name)


@dataclass(frozen=True, slots=True)
class Finding(_LazyFields):
    """One deviation from a requirement."""

    rule: str
    """The id of the requirement that the deviation breaks, for example ``LRO-FILE-06``. If no requirement covers the
    deviation, the rule is ``json`` for a document that is too large or is not strict JSON, and ``profile`` or
    ``report`` for an error in a profile or a report of the suite."""
    kind: Kind
    pointer: str
    """A JSON pointer (RFC 6901) to the value. If the document has lines, the pointer begins at the value of the line.
    The empty pointer refers to the whole value."""
    message: str
    """The deviation, in one sentence."""
    expected: str
    observed: str
    hint: str = ""
    """Advice for fixing it."""
    line: int | None = None
    """The line of the file, from 1; the header is line 1. None if the finding is about the file as a whole, or about a
    value whose text is not known."""
    column: int | None = None
    """The column in that line, from 1, in characters. None if it is not known."""
    severity: Severity = "error"
    """An *error* breaks the requirement; a *warning* is worth a look and breaks nothing."""
    excerpt: Excerpt | None = None
    """The text around the value. None if there is no text, if the place of the value in the text is not known, or if
    the text must not be shown."""
    path: str | None = None
    """The path of the descriptor's file if the finding is in that file. None if the finding is in the document
    itself."""

    @classmethod
    def lazy(
        cls,
        rule: str,
        kind: Kind,
        line: int | None,
        severity: Severity,
        path: str | None,
        compute: Callable[[], Finding],
    ) -> Finding:
        """A finding that takes its other fields from the result of *compute* when one of them is first read."""
        finding = cls.__new__(cls)
        # The fields are set one by one, because a loop takes three times as long, and a file may have a million
        # findings.
        put = object.__setattr__
        put(finding, "rule", rule)
        put(finding, "kind", kind)
        put(finding, "line", line)
        put(finding, "severity", severity)
        put(finding, "path", path)
        put(finding, "_compute", compute)
        return finding

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        warning = "warning: " if self.severity == "warning" else ""
        where = f" {self.pointer}" if self.pointer else ""
        hint = f" — {self.hint}" if self.hint else ""
        text = f"{place + ': ' if place else ''}{warning}{self.rule}{where}: {self.sentence}{hint}"
        return _UNPRINTABLE.sub(_escaped, text)

    @property
    def sentence(self) -> str:
        """The message with the expected and the observed value."""
        if not self.expected:
            return self.message
        return f"{self.message}: expected {self.expected}, got {self.observed}"

    @property
    def message_with_place(self) -> str:
        """The message with the place of the value, unless the message has it already: ``summary.count is missing``.

        If the message begins with the value's name, the dotted path replaces that name; otherwise the pointer stands
        before the message.
        """
        *parents, name = self.pointer.removeprefix("/").split("/")
        whole = ".".join((*parents, name))
        if not self.pointer or self.message.startswith(f"{whole} "):
            return self.message
        if self.message.startswith(f"{name} "):
            return f"{whole}{self.message.removeprefix(name)}"
        return f"{self.pointer} {self.message}"


def revise(
    finding: Finding, *, rule: str | None = None, severity: Severity | None = None, path: str | None = None
) -> Finding:
    """Return the finding with another rule, severity or path. Unlike `dataclasses.replace`, computes no lazy fields."""
    return Finding.lazy(
        rule or finding.rule,
        finding.kind,
        finding.line,
        severity or finding.severity,
        path or finding.path,
        lambda: finding,
    )


def _escaped(character: re.Match[str]) -> str:
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character[0], f"\\u{ord(character[0]):04x}")


def excerpt(line: str, index: int) -> Excerpt:
    """The part of a line around an index (from 0)."""
    start = max(0, index - _BEFORE_VALUE) if len(line) > _MAX_EXCERPT else 0
    return Excerpt(line[start : start + _MAX_EXCERPT], min(index, len(line)) - start)


def in_text(finding: Finding, text: str, index: int) -> Finding:
    """Return the finding with the line, the column and the excerpt of the character at *index* in *text*."""
    start = text.rfind("\n", 0, index) + 1
    end = text.find("\n", index)
    line = text[start : end if end >= 0 else len(text)].removesuffix("\r")
    number = text.count("\n", 0, index) + 1
    return replace(finding, line=number, column=index - start + 1, excerpt=excerpt(line, index - start))
