"""Texts whose lines all have the same few parts: hits of a search, unified diffs, logs, outlines.

A record is a line, or a line with the lines that continue it. A line that does not fit is a record with nothing but its
``text``, so that nothing is lost. If too many lines do not fit, the text is not in that form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from json.encoder import encode_basestring
from typing import Any

from lro_proxy.payload.batches import Batched, BatchedLines, encoded
from lro_proxy.payload.elements import Elements
from lro_proxy.payload.forms.columns import Cells, RowCollector, text_of
from lro_proxy.payload.forms.form import (
    Data,
    Extra,
    Form,
    PayloadRecords,
    Record,
    ending_of,
    in_batches,
    is_rebuilt,
    lines_of,
    places_of_lines,
)

_MAX_MISFIT_SHARE = 0.1
"""A text is not read as hits or as a log if a larger share of its records would have nothing but ``text``."""


WriteLine = Callable[[Mapping[str, Any]], str]
"""Returns the text of a record."""


def _payload_records(
    text: Data,
    extra: Extra,
    parse: Callable[[Iterable[str]], Iterator[Record]],
    write_line: WriteLine,
    field: str,
    min_share: float,
) -> PayloadRecords | None:
    """The records of a text.

    None if fewer than the share *min_share* of them have *field*, or if the text cannot be rebuilt from them.
    """

    def batches() -> Iterator[list[Record]]:
        return in_batches(parse(lines_of(text)))

    count = fitting = 0
    elements = Elements()

    def lines() -> Iterator[str]:
        nonlocal count, fitting
        separator = ""
        for batch in batches():
            count += len(batch)
            fitting += sum(field in record for record in batch)
            elements.learn(batch)
            yield separator + "\n".join(map(write_line, batch))
            separator = "\n"
        yield ending_of(text)

    if not is_rebuilt(text, lines()) or fitting < min_share * count:
        return None
    return _of_batches(count, batches, elements, {**extra, "ending": ending_of(text)})


def _of_batches(
    count: int, batches: Callable[[], Iterator[list[Record]]], elements: Elements, extra: Extra
) -> PayloadRecords:
    """Records whose facts *elements* has collected while the text was rebuilt from them."""
    records = Batched(count, batches)
    records.findings = elements.findings()
    return PayloadRecords(BatchedLines(count, lambda: encoded(batches())), records, extra)


@dataclass(frozen=True, slots=True)
class _LineNotation:
    """The notation of lines that all have the same fields."""

    fields: Mapping[str, str]
    """For each field, the text before its value."""
    pattern: re.Pattern[bytes]
    """A regular expression for a line, with a group for each field."""
    numbers: Set[int] = frozenset()
    """The indexes of the fields that are numbers."""
    accepts: Callable[[Cells], bool] = lambda cells: True
    """A further condition for the cells of a piece of the text."""

    def payload_records(self, text: Data, extra: Extra) -> PayloadRecords | None:
        """The records of a text; None if a line has another notation. This takes a third of the time of
        `_payload_records`."""
        collector = RowCollector(list(self.fields), self.numbers)
        for piece in self._pieces(text):
            cells = self._cells(piece)
            if b"".join(self._written(cells)) != b"\n" + piece or not self.accepts(cells):
                return None
            collector.take(cells)
        return collector.payload_records({**extra, "ending": ending_of(text)})

    def _pieces(self, text: Data) -> Iterator[bytes]:
        places = places_of_lines(text, len(text) - text.endswith(b"\n"))
        return (bytes(memoryview(text)[start:stop]) for start, stop in places)

    def _cells(self, piece: bytes) -> Cells:
        return list(chain.from_iterable(self.pattern.findall(piece)))

    def _written(self, cells: Cells) -> Cells:
        """The parts of the text of rows, with a line feed before each row."""
        first, *others = (before.encode() for before in self.fields.values())
        parts = [b""] * (2 * len(cells))
        parts[::2] = [b"\n" + first, *others] * (len(cells) // len(self.fields))
        parts[1::2] = cells
        return parts


def _joined(extra: Extra, records: Iterable[Mapping[str, Any]], write_line: WriteLine) -> Iterator[str]:
    separator = ""
    for record in records:
        yield separator + write_line(record)
        separator = "\n"
    yield extra["ending"]


# --- hits: path:line:text, as grep, ripgrep and compilers write them

_HIT = re.compile(r"((?:[A-Za-z]:)?[^:\n]*[^:\s]):([1-9]\d{0,8}):(?:([1-9]\d{0,8}):)?(.*)", re.DOTALL)
_HIT_WITHOUT_COLUMN = re.compile(r"((?:[A-Za-z]:)?[^:\n]*[^:\s]):([1-9]\d{0,8}):()(.*)", re.DOTALL)
_PLAIN_HIT = (
    re.compile(rb"^((?:[A-Za-z]:)?[^:\n]*[^:\s]):([1-9]\d{0,8}):(.*)$", re.MULTILINE),
    re.compile(rb"^((?:[A-Za-z]:)?[^:\n]*[^:\s]):([1-9]\d{0,8}):([1-9]\d{0,8}):(.*)$", re.MULTILINE),
)
_PATH = re.compile(r"(?!\d{4}-\d\d-\d\d)(?=.*[A-Za-z_]).*(?:[/\\]|\.[A-Za-z]\w*$)")
_MIN_HITS = 3


def _hits(text: Data) -> PayloadRecords | None:
    column = _has_column(lines_of(text))
    fields = {"file": "", "line": ":", **({"column": ":"} if column else {}), "text": ":"}
    plain = _LineNotation(
        fields, _PLAIN_HIT[column], {1, 2} if column else {1}, lambda cells: _are_paths(cells, len(fields))
    )
    payload = plain.payload_records(text, {"format": "hits"})
    if payload is not None:
        return payload
    pattern = _HIT if column else _HIT_WITHOUT_COLUMN

    def parse(lines: Iterable[str]) -> Iterator[Record]:
        for line in lines:
            hit = pattern.fullmatch(line)
            if hit is None or (column and hit[3] is None) or not _is_path(hit[1]):
                yield {"text": line}
            elif column:
                yield {"file": hit[1], "line": int(hit[2]), "column": int(hit[3]), "text": hit[4]}
            else:
                yield {"file": hit[1], "line": int(hit[2]), "text": hit[4]}

    return _payload_records(text, {"format": "hits"}, parse, _hit_line, "file", 1 - _MAX_MISFIT_SHARE)


@lru_cache(maxsize=64)
def _is_path(path: str) -> bool:
    return _PATH.match(path) is not None


def _are_paths(cells: Cells, width: int) -> bool:
    return all(_is_path(text_of(path)) for path in set(cells[::width]))


def _has_column(lines: Iterable[str]) -> bool:
    return all(hit[3] is not None for line in lines if (hit := _HIT.fullmatch(line)) is not None)


def _hit_line(record: Mapping[str, Any]) -> str:
    if "file" not in record:
        return record["text"]
    column = f"{record['column']}:" if "column" in record else ""
    return f"{record['file']}:{record['line']}:{column}{record['text']}"


def _begins_with_hits(beginning: str) -> bool:
    lines = beginning.split("\n")
    fitting = [hit for hit in map(_HIT_WITHOUT_COLUMN.fullmatch, lines) if hit is not None and _is_path(hit[1])]
    return len(fitting) >= max(_MIN_HITS, (1 - _MAX_MISFIT_SHARE) * len([line for line in lines if line]))


HITS = Form(
    "hits", _begins_with_hits, _hits, lambda extra, records: _joined(extra, records, _hit_line), is_streamed=True
)


# --- hits under headings: a line with the path, and below it line:text, as ripgrep writes them to a terminal

_NUMBERED = re.compile(r"([1-9]\d{0,8}):(.*)", re.DOTALL)


def _headed_hits(text: Data) -> PayloadRecords | None:
    def batches() -> Iterator[list[Record]]:
        return in_batches(_under_headings(lines_of(text)))

    count = 0
    elements = Elements()

    def records() -> Iterator[Record]:
        nonlocal count
        for batch in batches():
            count += len(batch)
            elements.learn(batch)
            yield from batch

    extra = {"format": "headed hits", "ending": ending_of(text)}
    is_same = is_rebuilt(text, _joined_pieces(_with_headings(extra, records())))
    return _of_batches(count, batches, elements, extra) if is_same else None


def _under_headings(lines: Iterable[str]) -> Iterator[Record]:
    """The hits, each with the path in the heading above it.

    Any line except hits, headings and the blank lines before headings is left out. A text that has such a line cannot
    be rebuilt.
    """
    file = ""
    for line in lines:
        if file and (hit := _NUMBERED.fullmatch(line)) is not None:
            yield {"file": file, "line": int(hit[1]), "text": hit[2]}
        else:
            file = line if _is_path(line) else ""


def _with_headings(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    file, separator = "", ""
    for record in records:
        if record["file"] != file:
            file = record["file"]
            yield f"{separator and separator + separator}{file}"
        yield f"\n{record['line']}:{record['text']}"
        separator = "\n"
    yield extra["ending"]


def _begins_with_heading(beginning: str) -> bool:
    lines = beginning.split("\n")
    hits = sum(_NUMBERED.fullmatch(line) is not None for line in lines[1:])
    return _is_path(lines[0]) and hits >= max(_MIN_HITS, len(lines) // 3)


HEADED_HITS = Form("headed hits", _begins_with_heading, _headed_hits, _with_headings, is_streamed=True)


# --- unified diffs, by their lines

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_GIT_HEADER = re.compile(r'diff --git (?:a/.* b/(.*)|"a/.*" "b/(.*)")')
_DIFF_BEGINNING = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ .*\n@@ -\d)", re.MULTILINE)
_MIN_MAIN_SHARE = 0.5
"""Smallest share of the records of a diff that must be in a hunk, or of an outline that must have a ``ref``."""


def _changes(lines: Iterable[str]) -> Iterator[Record]:
    where: Record = {}
    old = new = old_left = new_left = 0
    for text in lines:
        sign = text[:1]
        if sign == "+" and new_left:
            yield {**where, "change": "+", "line": new, "text": text[1:]}
            new, new_left = new + 1, new_left - 1
        elif sign == "-" and old_left:
            yield {**where, "change": "-", "line": old, "text": text[1:]}
            old, old_left = old + 1, old_left - 1
        elif sign in (" ", "") and old_left and new_left:
            yield {**where, **({"change": " "} if sign else {}), "line": new, "text": text[1:]}
            old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
        elif (hunk := _HUNK.match(text)) is not None and "file" in where:
            where = {**where, "hunk": where.get("hunk", 0) + 1}
            old, old_left, new, new_left = (int(number or 1) for number in hunk.groups())
            yield {**where, "text": text}
        else:
            if not text.startswith("\\"):
                old_left = new_left = 0
                where = _file_of(text, where)
            yield {**where, "text": text}


def _file_of(text: str, where: Record) -> Record:
    """The file to which a line outside of hunks belongs, as a record with that field; empty if there is no file."""
    if (git := _GIT_HEADER.fullmatch(text)) is not None:
        return {"file": git[1] or git[2]}
    if text.startswith(("--- ", "+++ ")):
        path = text[4:].partition("\t")[0]
        unchanged = {"file": where["file"]} if "file" in where else {}
        return unchanged if path == "/dev/null" else {"file": re.sub(r"^[ab]/", "", path)}
    return {} if text.startswith(("commit ", "From ")) or not text else {k: v for k, v in where.items() if k == "file"}


def _diff(text: Data) -> PayloadRecords | None:
    return _payload_records(text, {"format": "diff"}, _changes, _diff_line, "hunk", _MIN_MAIN_SHARE)


def _diff_line(record: Mapping[str, Any]) -> str:
    return f"{record.get('change', '')}{record['text']}"


DIFF = Form(
    "diff",
    lambda beginning: _DIFF_BEGINNING.search(beginning) is not None,
    _diff,
    lambda extra, records: _joined(extra, records, _diff_line),
    is_streamed=True,
)


# --- logs, by timestamp and level

_TIME = r"\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?"
_LEVEL = r"(?i:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|FATAL|SEVERE)"
_ENTRY = re.compile(
    rf"(?P<before>\[?)(?P<time>{_TIME})(?P<gap>[\]:]?[ \t](?:[-|][ ])?\[?)"
    rf"(?:(?P<logger>[A-Za-z_][\w.\-/]*)(?P<gap2>[ ](?:[-|][ ])\[?))??"
    rf"(?P<level>{_LEVEL})(?P<gap3>[\]:]{{0,2}}[ \t](?:[-|:][ ])?|:)(?P<text>.*)",
    re.DOTALL,
)
_TIMED = re.compile(rf"(?P<before>\[?)(?P<time>{_TIME})(?P<gap>[\]:]?[ \t]?)(?P<text>.*)", re.DOTALL)
_MIN_TIMED_SHARE = 0.2
"""Smallest share of the lines at the beginning of a log that must begin with a time. Other lines continue an entry."""


def _log(text: Data) -> PayloadRecords | None:
    first = next((entry for line in lines_of(text) if (entry := _ENTRY.fullmatch(line))), None) or next(
        (entry for line in lines_of(text) if (entry := _TIMED.fullmatch(line))), None
    )
    if first is None:
        return None
    template = {name: first.groupdict().get(name) for name in ("before", "gap", "gap2", "gap3")}
    extra = {"format": "log", **{name: part for name, part in template.items() if part is not None}}
    payload = _plain_log(template).payload_records(text, extra)
    if payload is not None:
        return payload
    return _payload_records(
        text,
        extra,
        lambda lines: _entries(lines, template),
        lambda record: _log_line(extra, record),
        "time",
        1 - _MAX_MISFIT_SHARE,
    )


def _patterns(template: Mapping[str, str | None]) -> tuple[str, str, Sequence[str]]:
    """Regular expressions for two kinds of entries, and the fields of a full entry.

    The first is for full entries, the second for entries that have only a time and a text.
    """
    before, gap, gap2, gap3 = (re.escape(template[name] or "") for name in ("before", "gap", "gap2", "gap3"))
    timed = f"{before}({_TIME}){gap}(.*)"
    logger = rf"([A-Za-z_][\w.\-/]*){gap2}" if gap2 else ""
    full = f"{before}({_TIME}){gap}{logger}({_LEVEL}){gap3}(.*)" if gap3 else timed
    return full, timed, ("time", *(("logger",) if gap2 else ()), *(("level",) if gap3 else ()), "text")


def _plain_log(template: Mapping[str, str | None]) -> _LineNotation:
    """The notation of a log that consists of full entries, each on one line."""
    full, _, fields = _patterns(template)
    before, gap, gap2, gap3 = (template[name] or "" for name in ("before", "gap", "gap2", "gap3"))
    gaps = {"time": before, "logger": gap, "level": gap2 or gap, "text": gap3 or gap}
    return _LineNotation({name: gaps[name] for name in fields}, re.compile(f"^{full}$".encode(), re.MULTILINE))


def _entries(lines: Iterable[str], template: Mapping[str, str | None]) -> Iterator[Record]:
    in_full, in_short, fields = _patterns(template)
    full, timed = re.compile(in_full, re.DOTALL), re.compile(in_short, re.DOTALL)
    pending: Record | None = None
    for line in lines:
        if (entry := full.fullmatch(line)) is not None:
            record = dict(zip(fields, entry.groups(), strict=True))
        elif (entry := timed.fullmatch(line)) is not None:
            record = {"time": entry[1], "text": entry[2]}
        elif pending is not None and "time" in pending:  # a stack trace, or another line that continues the entry
            pending["text"] += f"\n{line}"
            continue
        else:
            record = {"text": line}
        if pending is not None:
            yield pending
        pending = record
    if pending is not None:
        yield pending


def _log_line(extra: Extra, record: Mapping[str, Any]) -> str:
    if "time" not in record:
        return record["text"]
    logger = f"{record['logger']}{extra['gap2']}" if "logger" in record else ""
    level = f"{record['level']}{extra['gap3']}" if "level" in record else ""
    return f"{extra['before']}{record['time']}{extra['gap']}{logger}{level}{record['text']}"


def _begins_with_entries(beginning: str) -> bool:
    lines = beginning.split("\n")
    fitting = sum(_TIMED.match(line) is not None for line in lines)
    return fitting >= max(3, _MIN_TIMED_SHARE * len(lines))


LOG = Form(
    "log",
    _begins_with_entries,
    _log,
    lambda extra, records: _joined(extra, records, lambda record: _log_line(extra, record)),
    is_streamed=True,
)


# --- outlines: the nested items by which browser tools describe a page

_ITEM = re.compile(r'( *)- ([a-z/][\w-]*)(?: ("(?:[^"\\]|\\.)*"))?((?: \[[\w-]+(?:=[^\]\s]+)?\])*)(?:(:)(?: (.*))?)?')
_MARK = re.compile(r"\[([\w-]+)(?:=([^\]]*))?\]")
_ITEM_FIELDS = ("depth", "role", "name", "text")
"""Fields of an item; all its other fields are marks in brackets."""


def _outline(text: Data) -> PayloadRecords | None:
    def batches() -> Iterator[list[Record]]:
        return in_batches(_items(lines_of(text)))

    count = refs = 0
    elements = Elements()

    def records() -> Iterator[Record]:
        nonlocal count, refs
        for batch in batches():
            count += len(batch)
            refs += sum("ref" in record for record in batch)
            elements.learn(batch)
            yield from batch

    extra = {"format": "outline", "ending": ending_of(text)}
    if not is_rebuilt(text, _joined_pieces(_outlined(extra, records()))) or refs < _MIN_MAIN_SHARE * count:
        return None
    return _of_batches(count, batches, elements, extra)


def _joined_pieces(pieces: Iterator[str]) -> Iterator[str]:
    """The pieces of a text, joined into fewer and longer ones."""
    while group := list(islice(pieces, 500)):
        yield "".join(group)


def _items(lines: Iterable[str]) -> Iterator[Record]:
    for line in lines:
        item = _ITEM.fullmatch(line)
        yield (None if item is None else _item(*item.groups())) or {"text": line}


def _item(indent: str, role: str, name: str | None, marks: str, colon: str | None, text: str | None) -> Record | None:
    """A node of a page; None if the same line could not be written from it."""
    del colon
    item: Record = {"depth": len(indent) // 2, "role": role}
    if name is not None:
        try:
            item["name"] = json.loads(name) if "\\" in name else name[1:-1]
        except ValueError:
            return None
        if encode_basestring(item["name"]) != name:
            return None
    pairs = _MARK.findall(marks)
    attributes = {mark: value or True for mark, value in pairs}
    if len(indent) % 2 or len(attributes) < len(pairs) or any(mark in _ITEM_FIELDS for mark in attributes):
        return None
    return item | attributes if text is None else {**item, **attributes, "text": text}


def _item_line(record: Mapping[str, Any], *, opens: bool) -> str:
    if "role" not in record:
        return record["text"]
    name = f" {encode_basestring(record['name'])}" if "name" in record else ""
    marks = "".join(
        f" [{mark}]" if value is True else f" [{mark}={value}]"
        for mark, value in record.items()
        if mark not in _ITEM_FIELDS
    )
    end = f": {record['text']}" if "text" in record else ":" if opens else ""
    return f"{'  ' * int(record['depth'])}- {record['role']}{name}{marks}{end}"


def _outlined(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of items; an item without a text ends in a colon if the next item is deeper."""
    remaining = iter(records)
    record = next(remaining, None)
    while record is not None:
        following = next(remaining, None)
        opens = following is not None and int(following.get("depth", -1)) > int(record.get("depth", -1))
        yield _item_line(record, opens=opens) + ("" if following is None else "\n")
        record = following
    yield extra["ending"]


OUTLINE = Form(
    "outline",
    lambda beginning: sum("[ref=" in line and _ITEM.fullmatch(line) is not None for line in beginning.split("\n")) > 2,
    _outline,
    _outlined,
    is_streamed=True,
)
