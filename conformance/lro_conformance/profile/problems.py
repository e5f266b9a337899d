"""What can be wrong with a profile, in one line each: where, which key, what was expected."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from lro_spec.findings import shown
from lro_spec.schema_errors import SchemaError, type_words

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (list, "array"),
    (dict, "object"),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where."""

    file: str
    line: int | None
    """From 1; None when it concerns the file as a whole."""
    key: str
    """Dotted, for example ``settings.ttl_seconds``; "" for the document."""
    message: str
    path: tuple[str | int, ...] = field(default=(), compare=False)
    """The same key as a path; () for the document."""
    column: int | None = field(default=None, compare=False)
    """From 1; None when it concerns a line or the file as a whole."""

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


class ProfileError(Exception):
    """A profile that cannot be used. As a string it is one line for each problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def dotted(path: Iterable[str | int]) -> str:
    """A path as a reader writes it: ``server.command[0]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def told(error: SchemaError, value: object) -> str:
    """A schema's complaint about a value, in words that say what to write instead."""
    match error.keyword:
        case "required":
            return "missing; it is required"
        case "additionalProperties":
            return _unknown_key(error)
        case "type":
            return f"expected {_plain(error.expected)}, got {_kind(value)}{_type_hint(error, value)}"
        case "enum":
            return f"expected {error.expected}, got {error.observed}{_nearest_value(error, value)}"
        case _:
            return f"expected {_plain(error.expected)}, got {error.observed}"


def nearest(word: str, known: Iterable[str]) -> str:
    """A tail for a message that names the nearest known word; empty when none is near."""
    found = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


def _unknown_key(error: SchemaError) -> str:
    known = error.expected.removeprefix("one of ").split(", ")
    return "unknown key" + (nearest(str(error.path[-1]), known) or f"; expected {error.expected}")


def _nearest_value(error: SchemaError, value: object) -> str:
    known = [word.strip('"') for word in error.expected.split(" or ")]
    return nearest(value, known) if isinstance(value, str) else ""


def _kind(value: object) -> str:
    kind = next((name for type_, name in _KINDS if isinstance(value, type_)), "null")
    return shown(value) if kind in ("null", "boolean") else f"{_plain(type_words(kind))} ({shown(value)})"


def _type_hint(error: SchemaError, value: object) -> str:
    if isinstance(value, str) and error.path[-1:] == ("command",):
        try:
            words = shlex.split(value)
        except ValueError:
            return ""
        return f"; write it as a list of words: {shown(words)}"
    if "a string" in error.expected and isinstance(value, bool | int | float):
        return "; put it in quotes"
    return ""


def _plain(text: str) -> str:
    """Words of YAML for those of JSON Schema."""
    return text.replace("an array", "a list").replace("an object", "keys with values")


def value_at(value: Any, path: Iterable[str | int]) -> Any:
    """The value at a path; None when there is none."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value
