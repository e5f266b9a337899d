"""Tools that read offloaded files: their answers for offloaded files, and for files that they must not read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.operations import Operation
from lro_conformance.lab.settings import Settings
from lro_conformance.trials import trial
from lro_conformance.trials.extensions.families import Families, FileToolCall, families
from lro_conformance.trials.extensions.reading_tools import PATTERN, QUERY, TOOLS, Listed, listed
from lro_conformance.trials.survey import Survey
from lro_spec.filenames import file_name, ulid_at

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

MARK = "lro-probe-unread-9f2c41"
"""Content of files that no tool may read."""
MARK_START = MARK[:16]
"""Beginning of `MARK`. Searches use only this, so that an answer that repeats the query does not contain the mark."""
NOWHERE = "zzlroprobezz"
"""A word that is in no memory."""
LARGE_CHARACTERS = 400_000
"""Characters of the memory that is too large for an answer."""
LARGE_MEMORY_WORD = "lroprobelarge"
"""A word by which the large memory is found."""
ENOUGH_RECORDS = 12
"""Number of records that suffices to try recipes on a file. A file with fewer records may be deleted, so that the tools
can be asked for a deleted file."""
SOURCE_LIMITS = (3, ENOUGH_RECORDS, 2, 24, 48)
"""Limits of the calls that write files; the first yields a small file, if its result is offloaded."""
PATIENCE_FACTOR = 3
"""Time for which a tool may work on a query that never ends by itself, as a multiple of the request timeout."""


@dataclass(frozen=True)
class Extraction:
    """Answers of the tools that a server lists for reading files, to paths, queries and sizes of many kinds."""

    tools: Mapping[str, str]
    """The name of each tool in this server, by its documented name."""
    source: Call
    """The call whose file is read by the calls of `read`, `reaching`, `spliced` and `after`."""
    read: tuple[FileToolCall, ...]
    """Calls of each tool for a small part of the file of `source`."""
    again: tuple[FileToolCall, ...]
    """Calls of each tool for a small part of the file of `other`."""
    other: Call | None
    """A further call, whose file begins with a record that is not in the file of `source`; None if there is none."""
    outside: tuple[FileToolCall, ...]
    """Calls for files elsewhere, with paths that point there."""
    foreign: tuple[FileToolCall, ...]
    """Calls for files that are in the folder of offloaded files, but were not written by this server process."""
    gone: tuple[FileToolCall, ...]
    """Calls for files that never existed, or that were deleted."""
    reaching: tuple[FileToolCall, ...]
    """Calls with queries for something other than the file, such as the environment."""
    temp: str
    """The server's TMPDIR; an answer to `reaching` that contains this path shows the server's environment."""
    spliced: tuple[FileToolCall, ...]
    """Calls with values that have a different meaning as part of a program or a command."""
    large: Call | None
    """The call whose file has `LARGE_CHARACTERS` characters or more; None if there is none."""
    flooding: tuple[FileToolCall, ...]
    """Calls for the whole file of `large`."""
    endless: tuple[FileToolCall, ...]
    """Calls with queries and patterns that never end."""
    after: tuple[FileToolCall, ...]
    """The calls of `read`, made again after the endless queries."""
    families: Families
    """Calls that test the rules for only one family of tools."""

    @property
    def all_calls(self) -> tuple[FileToolCall, ...]:
        """All calls of the tools, except those of `families`."""
        tried = (*self.outside, *self.foreign, *self.gone, *self.reaching, *self.spliced)
        return (*self.read, *self.again, *tried, *self.flooding, *self.endless, *self.after)

    def works(self, tool: str) -> bool:
        """Return whether a tool reads the offloaded files that it should read. If not, its refusals prove nothing."""
        asked = [(one, wanted) for one, wanted in self.wanted() if one.tool == tool]
        return bool(asked) and all(one.call.outcome == "inline" and wanted in one.call.text for one, wanted in asked)

    def wanted(self) -> Iterator[tuple[FileToolCall, str]]:
        """Calls for offloaded files, with a text that the answer has to contain."""
        for source, asked in ((self.source, self.read), (self.other, self.again)):
            for one in asked if source is not None else ():
                yield one, TOOLS[one.tool].shows.replace("{id}", _id(source) if source is not None else "")


def _lists_none(survey: Survey) -> str | None:
    return None if listed(survey.tools) else "the server lists none of the tools that read offloaded files"


@trial("tools that read offloaded files", reason_not_listed=_lists_none)
def extraction(lab: Lab, survey: Survey) -> Extraction:
    """Offload results, read them by every tool, and ask every tool for files that it must not read."""
    tools = listed(survey.tools)
    with lab.bench(Settings(threshold_tokens=1 if survey.adjustable else None)) as bench:
        reader = _reader(bench, tools)
        asked = [(name, count) for name in bench.operations for count in SOURCE_LIMITS]
        sources = [call for name, limit in asked if (call := _offloaded(bench, name, limit)) is not None]
        if len(sources) < 2:
            raise NotObserved("fewer than two results were offloaded to files that have records with ids")
        source, other = (
            sources[0],
            next((c for c in sources if c.file_records[0].get("id") not in _ids(sources[0])), None),
        )
        first = source.path
        reading = reader.all_of(first, "the file of a descriptor", source)
        again = () if other is None else reader.all_of(other.path, "the file of another descriptor", other)
        planted = Planted.around(bench, source)
        outside = [a for about, path in planted.outside for a in reader.all_of(path, about)]
        foreign = [a for about, path in planted.foreign for a in reader.all_of(path, about)]
        gone = [a for about, path in planted.gone for a in reader.all_of(path, about)]
        deleted = next(
            (
                c
                for c in reversed(sources)
                if c is not source and c is not other and len(c.file_records) < ENOUGH_RECORDS
            ),
            None,
        )
        if deleted is not None:
            os.unlink(deleted.path)
            gone += reader.all_of(deleted.path, "a file that was deleted", deleted)
            os.symlink(planted.secret, deleted.path)
            outside += reader.all_of(deleted.path, "a link in the place of an offloaded file")
        reaching = [a for about, query in planted.queries for a in reader.by_argument(QUERY, first, query, about)]
        spliced = list(reader.spliced(first, source))
        large = _large(bench, survey)
        flooding = () if large is None else reader.floods(large.path)
        many = max((c for c in sources if c is not deleted), key=lambda call: len(call.file_records))
        own = families(reader.ask, {name: one.properties for name, one in tools.items()}, many, large)
        endless = tuple(reader.endless((large or source).path))
        after = reader.all_of(first, "the same file, after queries without an end", source)
    return Extraction(
        tools={name: one.name for name, one in tools.items()},
        source=source,
        read=reading,
        again=again,
        other=other,
        outside=tuple(outside),
        foreign=tuple(foreign),
        gone=tuple(gone),
        reaching=tuple(reaching),
        temp=str(bench.temp),
        spliced=tuple(spliced),
        large=large,
        flooding=flooding,
        endless=endless,
        after=after,
        families=own,
    )


def _offloaded(bench: Bench, operation: str, limit: int) -> Call | None:
    call = bench.call(operation, limit=limit)
    read = call.outcome == "offloaded" and call.file is not None and call.file.problem is None
    return call if read and call.file_records and isinstance(call.file_records[0].get("id"), (str, int)) else None


def _id(call: Call) -> str:
    return str(call.file_records[0]["id"])


def _ids(call: Call) -> set[Any]:
    return {record.get("id") for record in call.file_records}


def _large(bench: Bench, survey: Survey) -> Call | None:
    """A call whose file has `LARGE_CHARACTERS` characters or more; None if there is no such call.

    The file holds one large memory if that can be stored, otherwise all memories.
    """
    memory = {
        "title": f"{LARGE_MEMORY_WORD} 日本語 𝄞 of one line",
        "content": f"{LARGE_MEMORY_WORD} " + "x" * LARGE_CHARACTERS,
    }
    stored = bench.store(memory) is not None
    for name, operation in bench.operations.items():
        detail = next((d for d in ("full", "medium") if d in operation.details), None)
        query = LARGE_MEMORY_WORD if stored and operation.query is not None else None
        call = bench.call(name, detail=detail, query=query, limit=None)
        if call.file is not None and call.file.problem is None and call.file.characters >= LARGE_CHARACTERS:
            return call
    return None


def _reader(bench: Bench, tools: Mapping[str, Listed]) -> Reader:
    def operation(name: str, tool: str) -> Operation:
        return Operation(name, tool, {}, None, None, None, None, (), None)

    operations = {name: operation(name, one.name) for name, one in tools.items()}
    return Reader(replace(bench, operations=operations), tools)


@dataclass(frozen=True)
class Reader:
    """Calls of the tools that read files."""

    bench: Bench
    tools: Mapping[str, Listed]

    def ask(
        self, name: str, about: str, path: str, more: Mapping[str, Any], timeout_s: float | None = None
    ) -> FileToolCall:
        """Call a tool; arguments that it does not list are left out."""
        one = self.tools[name]
        arguments = {one.tool.path: path} | {k: v for k, v in more.items() if k in one.properties}
        sent = self.bench.start_call({"name": name, "arguments": arguments})
        return FileToolCall(name, about, self.bench.finish_call(sent, timeout_s))

    def all_of(self, path: str, about: str, source: Call | None = None) -> tuple[FileToolCall, ...]:
        """Read a small part of a file by every tool.

        *source* is the call that wrote the file. It is None for a planted file, or for a path that leads to no file.
        """
        text = _PLANTED if source is None or source.file is None else source.file.data.decode("utf-8", "replace")
        replacements: dict[Any, Any] = {
            "{id}": MARK_START if source is None else _id(source),
            "{end}": min(5_000, len(text)),
            "{lines}": min(50, text.count("\n")),
        }
        return tuple(
            self.ask(
                name, about, path, {k: replacements.get(v, v) if isinstance(v, str) else v for k, v in some.items()}
            )
            for name, some in ((name, one.tool.small_part) for name, one in self.tools.items())
        )

    def by_argument(
        self, argument: str, path: str, value: str, about: str, timeout_s: float | None = None
    ) -> Iterator[FileToolCall]:
        """Call every tool that takes this argument, a query or a pattern, with a *value*."""
        for name, one in self.tools.items():
            if argument in one.tool.small_part:
                yield self.ask(name, about, path, {**one.tool.small_part, argument: value}, timeout_s)

    def spliced(self, path: str, source: Call) -> Iterator[FileToolCall]:
        """Call the tools with values that have a different meaning as part of a program or a command."""
        yield from self.by_argument(QUERY, path, "--version", "a query that is an option")
        yield from self.by_argument(PATTERN, path, NOWHERE, "a pattern that is nowhere")
        yield from self.by_argument(PATTERN, path, "--version", "a pattern that is an option")
        extract = self.tools.get("lro_extract")
        if extract is None or "recipe" not in extract.properties:
            return
        title = str(source.file_records[0].get("title") or "")
        words = {
            "a keyword that is there": next((w for w in title.split() if w.isalpha()), title),
            "a keyword that is nowhere": NOWHERE,
            "a keyword with a quotation mark": f'{NOWHERE}" or true or "{NOWHERE}',
            "a keyword that ends a string": f'{NOWHERE}") or true or test("{NOWHERE}',
            "a keyword with an interpolation": f'{NOWHERE}\\("|.")',
        }
        for about, word in words.items():
            yield self.ask("lro_extract", about, path, {"recipe": 3, "params": {"keyword": word}})

    def floods(self, path: str) -> tuple[FileToolCall, ...]:
        """Call every tool for the largest part of a file that it can return."""
        return tuple(
            self.ask(name, "all of a file that is very large", path, one.tool.largest_part)
            for name, one in self.tools.items()
            if one.tool.largest_part is not None
        )

    def endless(self, path: str) -> Iterator[FileToolCall]:
        """Call the tools with queries and patterns that never end by themselves, as long as the server runs."""
        patience = PATIENCE_FACTOR * self.bench.server.limits.request_timeout_s
        for argument, value in ((QUERY, "range(1e12)"), (PATTERN, "(x+x+)+y")):
            for name, one in self.tools.items():
                if argument in one.tool.small_part and self.bench.server.alive:
                    more = {**one.tool.small_part, argument: value}
                    yield self.ask(name, f"{argument} {value}", path, more, patience)


@dataclass(frozen=True)
class Planted:
    """Files that no tool may read, and paths and queries that lead to them, each after a description."""

    secret: str
    """The path of one of these files, outside the folder of offloaded files."""
    outside: tuple[tuple[str, str], ...]
    foreign: tuple[tuple[str, str], ...]
    gone: tuple[tuple[str, str], ...]
    queries: tuple[tuple[str, str], ...]

    @classmethod
    def around(cls, bench: Bench, source: Call) -> Planted:
        """Plant the files. If the folder of the *source* call's file belongs to the suite, some are planted there."""
        path = source.path
        folder, name = os.path.split(path)
        place = bench.workdir / "elsewhere"
        place.mkdir()
        secret = _write(place / "secret.jsonl")
        (place / "probe.json").write_text(json.dumps({"title": MARK}), encoding="utf-8")
        outside = [("a path elsewhere", secret)]
        foreign: list[tuple[str, str]] = []
        if Path(folder).is_relative_to(bench.workdir):
            evil = Path(f"{folder}_evil")
            evil.mkdir()
            _write(evil / name)
            link = os.path.join(folder, _new_name(bench))
            os.symlink(secret, link)
            relative = os.path.relpath(secret, folder)
            outside += [
                ("a path with ..", os.path.join(folder, relative)),
                ("a path with .. alone", relative),
                ("a folder whose name begins like the right one", str(evil / name)),
                ("a link in the folder", link),
                ("a path that ends in NUL", f"{secret}\0{name}"),
            ]
            foreign += [
                ("a file of another process", _write(Path(folder, _new_name(bench)))),
                ("a file that is no result", _write(Path(folder, "notes.txt"))),
            ]
        queries = (
            ("the environment", "$ENV.TMPDIR"),
            ("the environment", "env.TMPDIR"),
            ("a file, as data", f'import "probe" as $p {{search: "{place}"}}; $p'),
        )
        gone = (("a file that never existed", os.path.join(folder, _new_name(bench))),)
        return cls(secret, tuple(outside), tuple(foreign), gone, queries)


def _new_name(bench: Bench) -> str:
    return file_name("recall", edition=bench.editions.own.name, ulid=ulid_at(datetime.now(UTC)))


_PLANTED = "".join(
    f"{json.dumps(line)}\n"
    for line in (
        {"type": "lro_header", "operation": "recall", "count": 1, "query": MARK},
        {"id": MARK, "title": MARK, "namespace": MARK, "content": MARK},
    )
)


def _write(path: Path) -> str:
    path.write_text(_PLANTED, encoding="utf-8")
    return str(path)
