"""Reads YAML as plain values, with the place of every key.

This reader is stricter than YAML: duplicate keys, anchors that expand to very many values, and values that JSON does
not have are errors. The messages of errors never show a value, because it may be a secret.
"""

from __future__ import annotations

import math
import os
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from lro_conformance.patience import patient

Path = tuple[str | int, ...]

MAX_BYTES = 256 * 1024
PIPE_S = 50.0
"""Longest time, in seconds, for which a pipe is read. It is short, because documents are small and a person is
waiting."""
_MAX_NODES = 20_000
_MAX_DEPTH = 40
_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_NAMES = {"timestamp": "a date", "binary": "binary data", "set": "a set", "omap": "an ordered map"}


class Place(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class YamlError(Exception):
    """A document, or a part of a document, that cannot be read. `place` is None if the error concerns the whole
    document."""

    def __init__(
        self, message: str, place: Place | None = None, path: Path = (), *, is_about_keys: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.path = path
        """The path of the value that cannot be read."""
        self.is_about_keys = is_about_keys
        """True if only keys cannot be read. The mapping at `path` may then have keys that are missing in the
        document."""

    @property
    def line(self) -> int | None:
        """The line number, from 1; None if the error concerns the whole document."""
        return self.place and self.place.line


@dataclass(frozen=True, slots=True)
class Document:
    """Plain values of a document, with the place of every key and item."""

    value: Any
    """The value of the document. Each part that cannot be read is replaced by None."""
    places: dict[Path, Place]
    problems: tuple[YamlError, ...] = ()
    """The parts that cannot be read, in the order of the document."""

    def place(self, path: Path) -> Place:
        """Return the place of a key or, if it does not exist, of the nearest parent that exists."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(1, 1))

    def line(self, path: Path) -> int:
        """Return the line of a key or, if it does not exist, of the nearest parent that exists."""
        return self.place(path).line

    def lines_below(self, path: Path) -> set[int]:
        """Return the lines on which this key, or any key or item below it, begins."""
        return {place.line for key, place in self.places.items() if key[: len(path)] == path}


def read_file(path: str | os.PathLike[str], timeout_s: float = PIPE_S) -> bytes:
    """Return the beginning of a file, up to one byte more than `read` accepts.

    Raises `OSError` if the file cannot be read. For a pipe, this is also raised if the pipe does not end within
    *timeout_s*, or if it sends nothing for a tenth of this time.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        source, data = patient(stream, timeout_s), b""
        while len(data) <= MAX_BYTES and (part := source.read(MAX_BYTES + 1 - len(data))):
            data += part
        return data


def read(data: bytes, *, dates: bool = False, expected_content: str = "server.command") -> Document:
    """Read a YAML document. Parts that cannot be read are in `Document.problems`.

    If *dates* is true, an unquoted date is read as text; otherwise it is an error. *expected_content* names the least
    content that is expected, for the message about an empty document. Raises `YamlError` if the document as a whole
    cannot be read, is empty, or is too large.
    """
    if len(data) > MAX_BYTES:
        raise YamlError(f"too large: {len(data)} bytes, the maximum is {MAX_BYTES}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        place = _LineStarts(data[: problem.start].decode("utf-8-sig")).end()
        raise YamlError(f"not UTF-8: byte 0x{data[problem.start]:02x} at offset {problem.start}", place) from None
    starts = _LineStarts(text)
    try:
        root = cast("Node | None", yaml.compose(text, yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as problem:
        raise YamlError(
            f"not YAML: {_reason(problem)}", starts.of(problem.problem_mark or problem.context_mark)
        ) from None
    except yaml.reader.ReaderError as problem:
        place = starts.at(problem.position)
        raise YamlError(f"not YAML: the character U+{int(problem.character):04X} is not allowed", place) from None
    except RecursionError:
        raise YamlError(f"nested deeper than {_MAX_DEPTH} levels") from None
    if root is None:
        raise YamlError(f"empty: expected at least {expected_content}")
    walk = _Walk(dates, starts)
    value = walk.value(root, ())
    return Document(value, walk.places, tuple(walk.problems))


class _LineStarts:
    """Converts indices in a text to places. PyYAML counts lines differently than text editors do, because more
    characters end a line in YAML."""

    def __init__(self, text: str) -> None:
        self._size = len(text)
        self._starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]

    def at(self, index: int) -> Place:
        line = bisect_right(self._starts, index)
        return Place(line, index - self._starts[line - 1] + 1)

    def of(self, mark: yaml.Mark | None) -> Place | None:
        return None if mark is None else self.at(min(mark.index, self._size))

    def end(self) -> Place:
        return self.at(self._size)


class _Walk:
    def __init__(self, dates: bool, starts: _LineStarts) -> None:
        self.dates = dates
        self.starts = starts
        self.places: dict[Path, Place] = {}
        self.problems: list[YamlError] = []
        self.nodes = 0
        self.constructor = SafeConstructor()

    def value(self, node: Node, path: Path) -> object:
        """Return the plain value of a node. Aliases are expanded wherever they are used. Values in expanded aliases
        count towards `_MAX_NODES`, too, so this limits the size of the expansion."""
        place = self.starts.at(node.start_mark.index)
        self.places.setdefault(path, place)
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise YamlError(f"too large: more than {_MAX_NODES} values once its anchors are followed", place, path)
        if len(path) > _MAX_DEPTH:
            raise YamlError(f"nested deeper than {_MAX_DEPTH} levels", place)
        if isinstance(node, MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.value(child, (*path, i)) for i, child in enumerate(cast("list[Node]", node.value))]
        if isinstance(node, ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node, path)
        if self.dates and isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:timestamp":
            return cast("str", node.value)
        kind = _NAMES.get(node.tag.rpartition(":")[2], "a tag")
        return self._problem(f"{kind} is not allowed here; put text in quotes", place, path)

    def _problem(self, message: str, place: Place, path: Path, *, is_about_keys: bool = False) -> None:
        self.problems.append(YamlError(message, place, path, is_about_keys=is_about_keys))

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key_node, child in cast("list[tuple[Node, Node]]", node.value):
            place = self.starts.at(key_node.start_mark.index)
            if not isinstance(key_node, ScalarNode):
                self._problem("a key must be a scalar", place, path, is_about_keys=True)
                continue
            if key_node.tag == "tag:yaml.org,2002:merge":
                self._problem("merge keys (<<) are not supported; repeat the keys", place, path, is_about_keys=True)
                continue
            # the key is taken as it is written: YAML 1.1 would read a key like `on` as a boolean
            key = cast("str", key_node.value)
            if key in mapping:
                first = self.places[(*path, key)].line
                self._problem(f"written twice, first on line {first}", place, (*path, key))
                continue
            self.places[(*path, key)] = place
            mapping[key] = self.value(child, (*path, key))
        return mapping

    def _scalar(self, node: ScalarNode, path: Path) -> object:
        place = self.starts.at(node.start_mark.index)
        if node.tag.endswith((":int", ":float")) and ":" in node.value:
            return cast("str", node.value)  # such as 1:30, which YAML 1.1 would read as the number 90
        try:
            value = cast("Any", self.constructor.construct_object(node))  # pyright: ignore[reportUnknownMemberType]
        except (ValueError, yaml.YAMLError):
            return self._problem(f"the value cannot be read as {node.tag.rpartition(':')[2]}", place, path)
        if isinstance(value, float) and not math.isfinite(value):
            return self._problem("the value is not a JSON number", place, path)
        return value


def _reason(problem: yaml.MarkedYAMLError) -> str:
    """Return the problem in PyYAML's words, but without the name of an alias: text that begins with ``*`` may be a
    secret."""
    parts = [str(p).strip() for p in (problem.context, problem.problem) if p]
    return re.sub(r"(alias|anchor) '[^']*'", r"\1", " ".join(", ".join(parts).split()))
