"""YAML read into plain values that remember the line of every key.

Stricter than a YAML reader: a key written twice, an anchor that multiplies, and what JSON has no word for are errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Path = tuple[str | int, ...]

MAX_BYTES = 256 * 1024
_MAX_NODES = 20_000
_MAX_DEPTH = 40
_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_NAMES = {"timestamp": "a date", "binary": "binary data", "set": "a set", "omap": "an ordered map"}


class YamlError(Exception):
    """A document that cannot be read; `line` is from 1, or None when it concerns the whole."""

    def __init__(self, message: str, line: int | None = None, path: Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.path = path


@dataclass(frozen=True, slots=True)
class Document:
    """A document as plain values, with the line of every key and item."""

    value: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line of a key; where it is missing, that of what should hold it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(data: bytes, *, dates: bool = False, least: str = "server.command") -> Document:
    """Reads a YAML document; with *dates*, one that is not in quotes is the text that is written there. *least* is what
    an empty one lacks. Raises `YamlError`."""
    if len(data) > MAX_BYTES:
        raise YamlError(f"too large: {len(data)} bytes, at most {MAX_BYTES} are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise YamlError(f"not UTF-8: byte 0x{data[problem.start]:02x} at offset {problem.start}", line) from None
    try:
        root = cast("Node | None", yaml.compose(text, yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as problem:
        raise YamlError(f"not YAML: {_reason(problem)}", _mark_line(problem)) from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        raise YamlError(f"not YAML: the character U+{int(problem.character):04X} is not allowed", line) from None
    except RecursionError:
        raise YamlError(f"nested deeper than {_MAX_DEPTH} levels") from None
    if root is None:
        raise YamlError(f"empty: expected at least {least}")
    walk = _Walk(dates)
    value = walk.value(root, ())
    return Document(value, walk.lines)


class _Walk:
    def __init__(self, dates: bool) -> None:
        self.dates = dates
        self.lines: dict[Path, int] = {}
        self.nodes = 0
        self.constructor = SafeConstructor()

    def value(self, node: Node, path: Path) -> object:
        """The plain value of a node. An alias is walked again each time, so the count bounds what it multiplies to."""
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise YamlError(f"too large: more than {_MAX_NODES} values once its anchors are followed", line, path)
        if len(path) > _MAX_DEPTH:
            raise YamlError(f"nested deeper than {_MAX_DEPTH} levels", line)
        if isinstance(node, MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.value(child, (*path, i)) for i, child in enumerate(cast("list[Node]", node.value))]
        if isinstance(node, ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node, path)
        if self.dates and isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:timestamp":
            return cast("str", node.value)
        kind = _NAMES.get(node.tag.rpartition(":")[2], f"the tag {node.tag}")
        raise YamlError(f"{kind} has no place here; put a text in quotes", line, path)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, child in cast("list[tuple[Node, Node]]", node.value):
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode):
                raise YamlError("a key has to be a word", line, path)
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise YamlError("merge keys (<<) are not read; write the keys out", line, path)
            # As written: YAML 1.1 would make a boolean of a key like `on`.
            key = cast("str", key_node.value)
            if key in found:
                raise YamlError(f"written twice, first on line {self.lines[(*path, key)]}", line, (*path, key))
            self.lines[(*path, key)] = line
            found[key] = self.value(child, (*path, key))
        return found

    def _scalar(self, node: ScalarNode, path: Path) -> object:
        line = node.start_mark.line + 1
        try:
            value = cast("Any", self.constructor.construct_object(node))  # pyright: ignore[reportUnknownMemberType]
        except (ValueError, yaml.YAMLError):
            raise YamlError(f"{node.value!r} cannot be read as {node.tag.rpartition(':')[2]}", line, path) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise YamlError(f"{node.value} is not a number that JSON has", line, path)
        return value


def _reason(problem: yaml.MarkedYAMLError) -> str:
    parts = [str(p).strip() for p in (problem.context, problem.problem) if p]
    return " ".join(", ".join(parts).split())


def _mark_line(problem: yaml.MarkedYAMLError) -> int | None:
    mark = problem.problem_mark or problem.context_mark
    return mark.line + 1 if mark else None
