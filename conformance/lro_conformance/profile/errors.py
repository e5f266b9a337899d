"""Problems of a profile. Each problem is reported in one line: its place, the key, and what is wrong or was
expected."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

from lro_spec.display import show
from lro_spec.findings import Kind
from lro_spec.schema.errors import SchemaError, type_words

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (list, "array"),
    (dict, "object"),
)


ENVIRONMENT = ("server", "env")
"""Path in a profile. Values below this path are not shown, because they may be secrets."""


class Complaint(NamedTuple):
    """Description of a wrong value. Converted to a string, it is one sentence."""

    message: str
    """Description of the problem. Not used if `expected` is given."""
    expected: str = ""
    observed: str = ""
    hint: str = ""
    kind: Kind = Kind.INVALID

    def __str__(self) -> str:
        message = f"expected {self.expected}, got {self.observed}" if self.expected else self.message
        return f"{message}; {self.hint}" if self.hint else message


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a profile, and its place in the file."""

    file: str
    line: int | None
    """The line number, from 1; None if the problem concerns the whole file."""
    key: str
    """The key in dotted notation, for example ``settings.ttl_seconds``; empty for the whole document."""
    complaint: Complaint
    path: tuple[str | int, ...] = field(default=(), compare=False)
    """The key as a path; () for the whole document."""
    column: int | None = field(default=None, compare=False)
    """The column, from 1; None if the problem concerns a whole line or the whole file."""
    is_private: bool = field(default=False, compare=False)
    """True if the line must not be shown, because it may contain a value below `ENVIRONMENT`."""

    @property
    def message(self) -> str:
        """Description of the problem in one sentence."""
        return str(self.complaint)

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


class ProfileError(Exception):
    """Raised for a profile that cannot be used. The message has one line for each problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def dotted(path: Iterable[str | int]) -> str:
    """A path in dotted notation: ``server.command[0]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def explain(error: SchemaError, value: object) -> Complaint:
    """Translate a schema error into words that say what the user should write instead."""
    match error.keyword:
        case "required":
            return Complaint("missing", hint="it is required", kind=Kind.MISSING_FIELD)
        case "additionalProperties":
            return Complaint("unknown key", hint=_known_keys(error), kind=Kind.UNKNOWN_FIELD)
        case "type":
            observed = _kind(value, may_show_value=error.path[: len(ENVIRONMENT)] != ENVIRONMENT)
            return Complaint("", _plain(error.expected), observed, _type_hint(error, value), Kind.WRONG_TYPE)
        case "enum":
            return Complaint("", error.expected, error.observed, _nearest_value(error, value), Kind.WRONG_VALUE)
        case _:
            return Complaint("", _plain(error.expected), error.observed)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the end of a message, which suggests the most similar of the *known* words. Empty if none is similar."""
    hint = did_you_mean(word, known)
    return f"; {hint}" if hint else ""


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """Return a question that suggests the most similar of the *known* words. Empty if none is similar."""
    matches = get_close_matches(word, [text for text in known if isinstance(text, str)], n=1, cutoff=0.6)
    return f"did you mean {matches[0]}?" if matches else ""


def _known_keys(error: SchemaError) -> str:
    return did_you_mean(str(error.path[-1]), error.allowed) or f"expected {error.expected}"


def _nearest_value(error: SchemaError, value: object) -> str:
    return did_you_mean(value, error.allowed) if isinstance(value, str) else ""


def _kind(value: object, *, may_show_value: bool) -> str:
    kind = next((name for type_, name in _KINDS if isinstance(value, type_)), "null")
    if kind in ("null", "boolean"):
        return show(value)
    return f"{_plain(type_words(kind))} ({show(value)})" if may_show_value else _plain(type_words(kind))


def _type_hint(error: SchemaError, value: object) -> str:
    if isinstance(value, str) and error.path[-1:] == ("command",):
        try:
            words = shlex.split(value)
        except ValueError:
            return ""
        return f"write it as a list of words: {show(words)}"
    if "a string" in error.expected and isinstance(value, bool | int | float):
        return "put it in quotes"
    return ""


def _plain(text: str) -> str:
    """Replace terms of JSON Schema by the terms of YAML."""
    return text.replace("an array", "a list").replace("an object", "keys with values")


def value_at(value: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path, or None if the path does not exist."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
