"""The text of a configuration, in JSON or TOML: the places of its MCP servers, and how one is added or removed."""

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
    """Index at which its name begins."""
    parts: Mapping[str, tuple[int, int]]
    """Where the value of each member begins and ends; in TOML, only the values of ``command`` and ``args``."""


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
        """The place of a server; None if there is no such server, or if it is written in a form that is not edited."""

    @abstractmethod
    def assignment(self, arguments: str, place: Place) -> str:
        """The text that adds ``args`` after the value of ``command``."""

    def removal(self, server: str) -> tuple[int, int] | None:
        """The range of the text to delete in order to remove a server; None if that is not known in this format."""
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
        parts = {key: (one.node.start, one.node.stop) for key, one in member.node.members.items()}
        return Place(member.start, parts)

    def assignment(self, arguments: str, place: Place) -> str:
        """The text that adds ``args``: on a line of its own if ``command`` is not on the line of the server's name."""
        line = self.text.rfind("\n", 0, place.parts["command"][0])
        if line < place.start:
            return f', "args": {arguments}'
        indent = re.match(r"[ \t]*", self.text[line + 1 :])
        return f',{self.line_end}{indent[0] if indent else ""}"args": {arguments}'

    def insertion(self, server: str, entry: Mapping[str, Any]) -> tuple[int, str]:
        """The index at which a server is inserted, and its text: at the end of the section, which may be new."""
        if not self.text.strip("\ufeff \t\r\n"):
            whole = json.dumps({self.section: {server: entry}}, indent=2, ensure_ascii=False)
            return len(self.text), whole.replace("\n", self.line_end) + self.line_end
        section = self._root.members.get(self.section)
        if section is None:
            return self._append(self._root, self.section, {server: entry})
        return self._append(section.node, server, entry)

    def removal(self, server: str) -> tuple[int, int] | None:
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
        inside = self._indent(node)
        text = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, indent=2, ensure_ascii=False)}"
        text = text.replace("\n", f"{self.line_end}{inside}")
        if not node.members:
            outside = inside.removesuffix("  ")
            return node.start + 1, f"{self.line_end}{inside}{text}{self.line_end}{outside}"
        last = max(one.node.stop for one in node.members.values())
        return last, f",{self.line_end}{inside}{text}"  # if there is a trailing comma, it then follows this member

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
        """The place of a server; None unless it is a table with a header of its own."""
        headers = [one for one in _HEADER.finditer(self.text) if not self._is_in_string(one.start())]
        for header, following in pairwise([*headers, None]):
            if header is None or self._names(header[1]) != [self.section, server]:
                continue
            stop = self._stop(header.end(), None if following is None else following.start())
            parts: dict[str, tuple[int, int]] = {}
            for key in _KEY.finditer(self.text, header.end(), stop):
                if not self._is_in_string(key.start()):
                    parts.setdefault(key[1], (key.end(), self._value_stop(key.end())))
            return Place(header.start(), parts)
        return None

    def assignment(self, arguments: str, place: Place) -> str:
        """The text that adds ``args`` on the next line."""
        return f"{self.line_end}args = {arguments}"

    def insertion(self, server: str, entry: Mapping[str, Any]) -> tuple[int, str]:
        """The index at which a server is inserted, and its text: at the end of the document."""
        name = server if re.fullmatch(r"[A-Za-z0-9_-]+", server) else json.dumps(server, ensure_ascii=False)
        parts = (f"{key} = {json.dumps(part, ensure_ascii=False)}" for key, part in entry.items())
        lines = [f"[{self.section}.{name}]", *parts]
        gap = "" if not self.text else self.line_end if self.text.endswith("\n") else self.line_end * 2
        return len(self.text), gap + self.line_end.join([*lines, ""])

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

        The table ends where the next header begins, at *following* (None: there is none), or where an array of tables
        begins before that; if there is neither, at the end of the text.
        """
        arrays = re.compile(r"^[ \t]*\[\[", re.MULTILINE)
        stop = len(self.text) if following is None else following
        found = arrays.search(self.text, start, stop)
        return stop if found is None else found.start()

    def _is_in_string(self, place: int) -> bool:
        """True if a place is within a string or array of several lines: then the text before it is not valid TOML."""
        try:
            tomllib.loads(self.text[:place].removeprefix("\ufeff"))
        except ValueError:
            return True
        return False

    def _value_stop(self, start: int) -> int:
        """The end of the string or the array that begins at *start*; *start* itself if there is neither."""
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
