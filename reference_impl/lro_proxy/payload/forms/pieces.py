"""Texts that fall into pieces: Markdown by section, source code by definition, markup by element, YAML by item.

Every record has its piece of the text as ``text``, unchanged, so that all pieces in order are the text. Its other
fields say what the piece is. A long piece is cut at the ends of lines, and its parts are numbered (``part``).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import pairwise
from typing import Any, cast

from lro_proxy.payload.forms.form import (
    Data,
    Extra,
    Form,
    PayloadRecords,
    Record,
    decoded,
    in_batches,
    lines_of,
    of_batches,
)
from lro_proxy.payload.forms.markdown import are_sections, headings

_MAX_PIECE_BYTES = 1 << 14
"""Number of bytes above which a piece is cut into parts."""
_MAX_BYTES_TO_PARSE = 1 << 20
"""A text of more bytes is not parsed as source code or YAML."""

Cut = tuple[int, Record]
"""The place at which a piece begins, and what it is."""


def _payload_records(text: Data, cuts: Sequence[Cut], name: str) -> PayloadRecords | None:
    """The pieces that begin at *cuts*, and the text before the first cut. None if there are fewer than three cuts."""
    if len(cuts) < 3:
        return None
    cuts = [*([(0, Record())] if cuts[0][0] else []), *cuts]
    return of_batches(lambda: in_batches(_records(text, cuts)), {"format": name})


def _records(text: Data, cuts: Sequence[Cut]) -> Iterator[Record]:
    line = 1
    for (start, facts), (stop, _) in pairwise([*cuts, (len(text), Record())]):
        parts = list(_parts(text, start, stop))
        for part, (first, last) in enumerate(parts, 1):
            numbered = {"part": part} if len(parts) > 1 else {}
            yield {**facts, "line": line, **numbered, "text": decoded(text, first, last)}
            line += text.count(b"\n", first, last)


def _parts(text: Data, start: int, stop: int) -> Iterator[tuple[int, int]]:
    while stop - start > _MAX_PIECE_BYTES:
        end = text.rfind(b"\n", start, start + _MAX_PIECE_BYTES) + 1 or text.find(b"\n", start, stop) + 1 or stop
        yield start, end
        start = end
    if start < stop:
        yield start, stop


def _rebuilt(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (record["text"] for record in records)


# --- Markdown, by its headings


def _sections(text: Data) -> PayloadRecords | None:
    lines = list(lines_of(text))
    found = list(headings(lines))
    set_apart = sum(heading.line == 1 or not lines[heading.line - 2].strip() for heading in found)
    if not are_sections(found, len(lines)) or 2 * set_apart < len(found):
        return None
    places = _places(text)
    cuts: list[Cut] = [(places[line - 1], {"heading": title, "level": level}) for line, level, title in found]
    return _payload_records(text, cuts, "sections")


def _begins_with_section(beginning: str) -> bool:
    found = list(headings(beginning.split("\n")))
    return len(found) > 1 and any(heading.level > 1 for heading in found)


SECTIONS = Form("sections", _begins_with_section, _sections, _rebuilt)


# --- source code, by its definitions

_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|pub(?:\([a-z]+\))?|static|abstract|final|async|unsafe|"
    r"extern|const|sealed|partial|open|inline|extend)\s+)*"
)
_DEFINITION = re.compile(
    rf"{_MODIFIERS}(?P<kind>function\*?|class|interface|type|enum|struct|union|trait|impl|fn|func|def|const|let|var|module|mod|"
    rf"namespace|input|scalar|directive|schema|service|message|record|object|protocol|extension)\b\s*"
    rf"(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?(?P<name>[@$\w.]*)"
)
_NO_DEFINITION = re.compile(
    r"\s|[})\]]|//|/\*|\*|#|\"\"\"|--|@|import\b|export [{*]|from\b|use\b|using\b|package\b|require|include|syntax\b|"
    r"option\b|extern crate|'use strict'|\"use strict\"|module\.exports|exports\."
)
"""Beginnings of lines that begin no definition: indentation, closing brackets, comments, attributes, imports."""


def _definitions(text: Data) -> PayloadRecords | None:
    if len(text) > _MAX_BYTES_TO_PARSE:
        return None
    code = decoded(text, 0, len(text))
    cuts = _python(code) or _braces(code)
    if not cuts:
        return None
    places = _places(text)
    return _payload_records(text, [(places[line], facts) for line, facts in cuts], "definitions")


def _places(text: Data) -> list[int]:
    """The place at which each line begins."""
    places = [0]
    while (place := text.find(b"\n", places[-1])) >= 0:
        places.append(place + 1)
    return places


def _python(code: str) -> list[tuple[int, Record]]:
    """The lines at which the pieces of a Python module begin, each with facts about the piece.

    A piece begins at each definition, and where other code follows a definition. Lines are numbered from 0.
    """
    if "\f" in code or "\r" in code.replace("\r\n", "\n"):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those about escapes in its strings
            module = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    cuts: list[tuple[int, Record]] = []
    for node in module.body:
        is_plain = not _cut_python(node, "", cuts)
        if is_plain and cuts and cuts[-1][1]:
            cuts.append((node.lineno - 1, {}))
    return cuts


def _cut_python(node: ast.stmt, owner: str, cuts: list[tuple[int, Record]]) -> bool:
    """Cut before a definition, and before the definitions in a class. False if the statement is not a definition."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    first = min(part.lineno for part in (*node.decorator_list, node)) - 1
    kind = "class" if isinstance(node, ast.ClassDef) else "method" if owner else "function"
    cuts.append((first, {"kind": kind, "name": f"{owner}{node.name}"}))
    for inner in node.body if isinstance(node, ast.ClassDef) else []:
        _cut_python(inner, f"{owner}{node.name}.", cuts)
    return True


def _braces(code: str) -> list[tuple[int, Record]]:
    """The lines at the margin that begin definitions, numbered from 0, each with facts about its definition.

    Empty if a line at the margin is neither a definition nor one of `_NO_DEFINITION`, or if there are too few braces.
    """
    cuts: list[tuple[int, Record]] = []
    for number, line in enumerate(code.split("\n")):
        if not line or _NO_DEFINITION.match(line):
            continue
        match = _DEFINITION.match(line)
        if match is None or not (match["name"] or match["kind"] in ("schema", "impl")):
            return []
        cuts.append((number, {"kind": match["kind"], "name": match["name"]}))
    has_braces = code.count("{") >= len(cuts) // 2 > 0
    return cuts if has_braces else []


def _begins_with_definition(beginning: str) -> bool:
    lines = [line for line in beginning.split("\n") if line and not line.isspace()]
    return any(_DEFINITION.match(line) for line in lines) and not beginning.lstrip().startswith("<")


DEFINITIONS = Form("definitions", _begins_with_definition, _definitions, _rebuilt)


# --- markup, by the element that repeats

_TAG = re.compile(rb"<(/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*(/?)>")
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MIN_ELEMENTS = 3
_MIN_MAIN_SHARE = 0.6
"""Smallest share of a text that the elements, or the items of a YAML list, must make up."""


def _elements(text: Data) -> PayloadRecords | None:
    """Elements of one name that begin lines, are not nested in each other, and make up most of the text."""
    at_margin = Counter(tag[2] for tag in _TAG.finditer(text) if not tag[1] and _is_at_margin(text, tag.start()))
    for name, count in at_margin.most_common(3):
        cuts = _cuts_at(text, name) if count >= _MIN_ELEMENTS else None
        if cuts is not None:
            return _payload_records(text, cuts, "elements")
    return None


def _is_at_margin(text: Data, place: int) -> bool:
    return place == 0 or not text[text.rfind(b"\n", 0, place) + 1 : place].strip()


def _cuts_at(text: Data, name: bytes) -> list[Cut] | None:
    cuts: list[Cut] = []
    begun = -1
    bytes_inside = end = 0
    for tag in _TAG.finditer(text):
        if tag[2] != name:
            continue
        if tag[1]:
            if begun < 0:
                return None
            bytes_inside, end, begun = bytes_inside + tag.end() - begun, tag.end(), -1
        elif begun >= 0 or not _is_at_margin(text, tag.start()):
            return None
        else:
            start = text.rfind(b"\n", 0, tag.start()) + 1
            if end and text[end:start].strip():
                cuts.append((_after_line(text, end), {}))
            cuts.append((start, {"element": name.decode(), **_attributes(tag[3])}))
            if tag[4]:
                bytes_inside, end = bytes_inside + tag.end() - tag.start(), tag.end()
            else:
                begun = tag.start()
    if begun >= 0 or bytes_inside < _MIN_MAIN_SHARE * len(text):
        return None
    return [*cuts, *([(_after_line(text, end), Record())] if text[end:].strip() else [])]


def _after_line(text: Data, place: int) -> int:
    return text.find(b"\n", place) + 1 or len(text)


def _attributes(data: bytes) -> dict[str, str]:
    attributes = _ATTRIBUTE.findall(data.decode("utf-8", "replace"))
    values = {name: unescape(one or other) for name, one, other in attributes}
    return {name: value for name, value in values.items() if name not in ("element", "line", "part", "text")}


ELEMENTS = Form(
    "elements", lambda beginning: _TAG.search(beginning.encode("utf-8", "replace")) is not None, _elements, _rebuilt
)


# --- YAML, by the items of its list

_ITEM = re.compile(r"^( *)- +(?:[\w.$/-]+|'[^'\n]*'|\"[^\"\n]*\"):(?: |$)", re.MULTILINE)
_INTEGER = re.compile(r"0|-?[1-9]\d{0,14}")
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)\.\d+(?:e[-+]\d+)?")
_AMBIGUOUS_NUMBER = re.compile(r"[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?|[-+]?\.(?:inf|nan)", re.IGNORECASE)
"""Numbers to base 60, infinities and NaN."""
_YAML_LINE_END = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
"""Line ends that only YAML regards as line ends."""
_WORDS_OF_YAML = {"true": True, "false": False, "null": None, "~": None, "": None}
_MAX_DEPTH, _MAX_DECIMAL_LENGTH = 50, 16


class _NotPlainError(ValueError):
    """The text has something that readers of YAML understand differently, or that JSON cannot say."""


def _items(text: Data) -> PayloadRecords | None:
    """The items of a YAML text that is a list, or a mapping that is mostly a list. Each item must be a mapping."""
    if len(text) > _MAX_BYTES_TO_PARSE:
        return None
    import yaml  # here because loading it takes a while, and few results are YAML

    code, parser = decoded(text, 0, len(text)), cast("Any", yaml)
    try:
        found = _list_of(_Events(list(parser.parse(code, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))))
    except (yaml.YAMLError, _NotPlainError):
        return None
    if found is None or not _are_mappings(found[0]) or _YAML_LINE_END.search(code):
        return None
    items, end = found
    places = _places(text)
    stop = places[end] if end < len(places) else len(text)
    have_dashes = all(text.startswith(b"-", places[line] + column) for line, column, _ in items)
    if not have_dashes or stop - places[items[0][0]] < _MIN_MAIN_SHARE * len(text):
        return None
    cuts: list[Cut] = [(places[line], _facts_of(value)) for line, _, value in items]
    return _payload_records(text, [*cuts, *([(stop, Record())] if text[stop:] else [])], "yaml")


Item = tuple[int, int, Any]
"""The line of an item, the column of its dash, and its value."""


def _facts_of(item: Record) -> Record:
    """The members of an item, except those whose names are fields of every piece."""
    return {key: value for key, value in item.items() if key not in ("line", "part", "text")}


class _Events:
    """The events of a parser of YAML."""

    def __init__(self, events: Sequence[Any]) -> None:
        self._events, self._next = events, 0

    def take(self) -> tuple[str, Any]:
        """The name of the next event, and the event. Raises `_NotPlainError` for anchors, aliases and tags."""
        event = self._events[self._next]
        self._next += 1
        name = type(event).__name__.removesuffix("Event")
        tag = getattr(event, "tag", None)
        if name == "Alias" or getattr(event, "anchor", None) is not None or tag is not None:
            raise _NotPlainError("an anchor, an alias or a tag")
        return name, event

    def line(self) -> int:
        """The number of the line on which the next event begins, from 0."""
        return self._events[self._next].start_mark.line

    def ends(self, name: str) -> bool:
        """True if *name* is the name of the next event, such as ``SequenceEndEvent`` at the end of a list."""
        return type(self._events[self._next]).__name__ == name


def _list_of(events: _Events) -> tuple[list[Item], int] | None:
    """The items of a text that is a list, or of the first list of mappings in its mapping, and the line after them."""
    events.take()  # the stream
    if events.take()[0] != "DocumentStart":
        return None
    name, event = events.take()
    if name == "SequenceStart":
        found = None if event.flow_style else _items_of(event, events)
    elif name == "MappingStart" and not event.flow_style:
        found = _first_list(events)
    else:
        return None
    if events.take()[0] != "DocumentEnd" or events.take()[0] != "StreamEnd":
        return None
    return found


def _first_list(events: _Events) -> tuple[list[Item], int] | None:
    found: tuple[list[Item], int] | None = None
    while not events.ends("MappingEndEvent"):
        events.take()
        name, event = events.take()
        if name == "SequenceStart" and not event.flow_style:
            other = _items_of(event, events)
            found = other if found is None and _are_mappings(other[0]) else found
        else:
            _value(name, event, events)
    events.take()
    return found


def _items_of(begun: Any, events: _Events) -> tuple[list[Item], int]:
    items: list[Item] = []
    while not events.ends("SequenceEndEvent"):
        line = events.line()
        items.append((line, begun.start_mark.column, _value(*events.take(), events)))
    events.take()
    return items, events.line()


def _value(name: str, event: Any, events: _Events, depth: int = 0) -> Any:
    """The value that begins with an event."""
    if depth > _MAX_DEPTH:
        raise _NotPlainError("nested too deeply")
    if name == "Scalar":
        return _scalar(event.value) if event.implicit[0] else event.value
    if name == "SequenceStart":
        values: list[Any] = []
        while not events.ends("SequenceEndEvent"):
            values.append(_value(*events.take(), events, depth + 1))
        events.take()
        return values
    members: Record = {}
    while not events.ends("MappingEndEvent"):
        kind, key = events.take()
        if kind != "Scalar" or key.value in members or (key.value == "<<" and key.implicit[0]):
            raise _NotPlainError("a key that is no text, that occurs twice, or that merges mappings")
        members[key.value] = _value(*events.take(), events, depth + 1)
    events.take()
    return members


def _are_mappings(items: Iterable[Item]) -> bool:
    return all(isinstance(value, dict) for _, _, value in items)


def _scalar(text: str) -> Any:
    """The value of a plain scalar. It is a text unless all readers of YAML agree on something else.

    Raises `_NotPlainError` for numbers to base 60, infinities and NaN.
    """
    if text in _WORDS_OF_YAML:
        return _WORDS_OF_YAML[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and len(text) <= _MAX_DECIMAL_LENGTH:
        return float(text)
    if _AMBIGUOUS_NUMBER.fullmatch(text):
        raise _NotPlainError("a number that readers understand differently")
    return text


def _begins_with_items(beginning: str) -> bool:
    found: list[str] = _ITEM.findall(beginning)
    return found.count(min(found, default="")) > 2


ITEMS = Form("yaml", _begins_with_items, _items, _rebuilt)
