"""The text of a configuration, in JSON or TOML: the places of its MCP servers, and how a server is added or removed."""

from __future__ import annotations

import json
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from lro_proxy.install import jsonc


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a server in the text."""

    start: int
    """Index at which the server's name begins; in TOML, the index of the header of its table."""
    value_spans: Mapping[str, tuple[int, int]]
    """Indices at which the value of each member begins and ends; in TOML, only for ``command`` and ``args``."""


class Document(ABC):
    """A configuration whose servers are the members of *section*."""

    def __init__(self, text: str, section: str) -> None:
        self.text, self.section = text, section
        self.value = self.load(text)

    @property
    def line_end(self) -> str:
        """The line end of the text."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def servers(self) -> dict[str, Any]:
        """The servers' entries by name. Raises `ValueError` if the section is not an object."""
        section = self.value.get(self.section, {})
        if not isinstance(section, dict):
            raise ValueError(f"{self.section} is not an object")  # noqa: TRY004
        return cast("dict[str, Any]", section)

    @staticmethod
    @abstractmethod
    def load(text: str) -> dict[str, Any]:
        """The value of a document. Raises `ValueError`."""

    @abstractmethod
    def find(self, server: str) -> Place | None:
        """The place of a server, or None if the server is missing or is written in a form that cannot be edited."""

    @abstractmethod
    def args_text(self, arguments: str, place: Place) -> str:
        """The text that adds ``args`` after the value of ``command``."""

    def span_to_remove(self, server: str) -> tuple[int, int] | None:
        """The range of the text to delete in order to remove a server; None if it is unknown for this format."""
        del server
        return None

    @abstractmethod
    def insertion(self, server: str, entry: Mapping[str, Any]) -> tuple[int, str]:
        """The index at which a server is inserted, and its text."""


class Json(Document):
    """A configuration in JSON, which may have comments."""

    def __init__(self, text: str, section: str) -> None:
        self._root = jsonc.read(text if text.strip("\ufeff \t\r\n") else "{}")
        super().__init__(text, section)

    @staticmethod
    def load(text: str) -> dict[str, Any]:
        """The value of a document. Raises `ValueError`."""
        value: Any = jsonc.read(text).value if text.strip("\ufeff \t\r\n") else {}
        if not isinstance(value, dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004
        return cast("dict[str, Any]", value)

    def find(self, server: str) -> Place | None:
        """The place of a server; None if there is no such server."""
        section = self._root.members.get(self.section)
        member = None if section is None else section.node.members.get(server)
        if member is None:
            return None
        value_spans = {key: (part.node.start, part.node.stop) for key, part in member.node.members.items()}
        return Place(member.start, value_spans)

    def args_text(self, arguments: str, place: Place) -> str:
        """The text that adds ``args``, on a new line unless ``command`` is on the same line as the server's name."""
        line = self.text.rfind("\n", 0, place.value_spans["command"][0])
        if line < place.start:
            return f', "args": {arguments}'
        indent = re.match(r"[ \t]*", self.text[line + 1 :])
        return f',{self.line_end}{indent[0] if indent else ""}"args": {arguments}'

    def insertion(self, server: str, entry: Mapping[str, Any]) -> tuple[int, str]:
        """The index at which a server is inserted, and its text. It is inserted at the end of the section.

        If there is no section, the text contains a new one.
        """
        if not self.text.strip("\ufeff \t\r\n"):
            whole = json.dumps({self.section: {server: entry}}, indent=2, ensure_ascii=False)
            return len(self.text), whole.replace("\n", self.line_end) + self.line_end
        section = self._root.members.get(self.section)
        if section is None:
            return self._append(self._root, self.section, {server: entry})
        return self._append(section.node, server, entry)

    def span_to_remove(self, server: str) -> tuple[int, int] | None:
        """The range of the text to delete in order to remove a server: the member and its comma."""
        section = self._root.members[self.section].node
        names = list(section.members)
        place = names.index(server)
        member = section.members[server]
        if place:
            return section.members[names[place - 1]].node.stop, member.node.stop
        if len(names) > 1:
            return member.start, section.members[names[1]].start
        return section.start + 1, section.stop - 1

    def _append(self, node: jsonc.Node, key: str, value: object) -> tuple[int, str]:
        inner_indent = self._indent(node)
        text = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, indent=2, ensure_ascii=False)}"
        text = text.replace("\n", f"{self.line_end}{inner_indent}")
        if not node.members:
            outer_indent = inner_indent.removesuffix("  ")
            return node.start + 1, f"{self.line_end}{inner_indent}{text}{self.line_end}{outer_indent}"
        last = max(member.node.stop for member in node.members.values())
        # If the last member had a trailing comma, that comma follows the new member afterwards.
        return last, f",{self.line_end}{inner_indent}{text}"

    def _indent(self, node: jsonc.Node) -> str:
        """The indentation of the members of an object."""
        first = next(iter(node.members.values()), None)
        line = self.text.rfind("\n", 0, node.start if first is None else first.start)
        found = re.match(r"[ \t]*", self.text[line + 1 :])
        outer = found[0] if found else ""
        return outer if first is not None and line > node.start else f"{outer}  "


_HEADER = re.compile(
    r"^[ \t]*\[((?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[A-Za-z0-9_. \t-])+)\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE
)
_TOML_SPACE = re.compile(r"(?:[ \t\r\n,]+|#[^\n]*)*")
_TOML_STRING = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'", re.DOTALL)
_KEY = re.compile(r"^[ \t]*(command|args)[ \t]*=[ \t]*", re.MULTILINE)


class Toml(Document):
    """A configuration in TOML, whose servers are tables of their own."""

    @staticmethod
    def load(text: str) -> dict[str, Any]:
        """The value of a document. Raises `ValueError`."""
        return tomllib.loads(text.removeprefix("\ufeff"))

    def find(self, server: str) -> Place | None:
        """The place of a server, or None if the server is not a table with a header of its own."""
        headers = [header for header in _HEADER.finditer(self.text) if not self._is_in_string(header.start())]
        for header, following in pairwise([*headers, None]):
            if header is None or self._names(header[1]) != [self.section, server]:
                continue
            stop = self._stop(header.end(), None if following is None else following.start())
            value_spans: dict[str, tuple[int, int]] = {}
            for key in _KEY.finditer(self.text, header.end(), stop):
                if not self._is_in_string(key.start()):
                    value_spans.setdefault(key[1], (key.end(), self._value_stop(key.end())))
            return Place(header.start(), value_spans)
        return None

    def args_text(self, arguments: str, place: Place) -> str:
        """The text that adds ``args`` on the next line."""
        return f"{self.line_end}args = {arguments}"

    def insertion(self, server: str, entry: Mapping[str, Any]) -> tuple[int, str]:
        """The index at which a server is inserted, and its text. It is inserted at the end of the document."""
        name = server if re.fullmatch(r"[A-Za-z0-9_-]+", server) else json.dumps(server, ensure_ascii=False)
        lines = (f"{key} = {json.dumps(part, ensure_ascii=False)}" for key, part in entry.items())
        table = [f"[{self.section}.{name}]", *lines]
        separator = "" if not self.text else self.line_end if self.text.endswith("\n") else self.line_end * 2
        return len(self.text), separator + self.line_end.join([*table, ""])

    @staticmethod
    def _names(header: str) -> list[str] | None:
        """The keys in the header of a table; None if it is not a valid header."""
        try:
            value: Any = tomllib.loads(f"[{header}]")
        except ValueError:
            return None
        names: list[str] = []
        while value:
            ((name, value),) = value.items()
            names.append(name)
        return names

    def _stop(self, start: int, following: int | None) -> int:
        """The end of a table whose header ends at *start*.

        *following* is the place of the next header, or None if there is none. The table ends there, or at the end of
        the text. If an array of tables begins before that place, the table ends where the array begins.
        """
        arrays = re.compile(r"^[ \t]*\[\[", re.MULTILINE)
        stop = len(self.text) if following is None else following
        found = arrays.search(self.text, start, stop)
        return stop if found is None else found.start()

    def _is_in_string(self, place: int) -> bool:
        """True if a place is within a string or an array of several lines.

        In this case, the text before the place is not valid TOML by itself.
        """
        try:
            tomllib.loads(self.text[:place].removeprefix("\ufeff"))
        except ValueError:
            return True
        return False

    def _value_stop(self, start: int) -> int:
        """The end of the string or array that begins at *start*, or *start* itself if neither begins there."""
        if not self.text.startswith("[", start):
            found = _TOML_STRING.match(self.text, start)
            return start if found is None else found.end()
        depth, place = 0, start
        while place < len(self.text):
            if found := _TOML_STRING.match(self.text, place):
                place = found.end()
                continue
            if self.text[place] == "#":
                place = self.text.find("\n", place) if "\n" in self.text[place:] else len(self.text)
                continue
            depth += {"[": 1, "]": -1}.get(self.text[place], 0)
            place += 1
            if depth == 0:
                return place
        return start
