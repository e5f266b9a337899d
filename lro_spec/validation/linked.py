"""Validation of a descriptor together with its file."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from lro_spec.display import show
from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import real_path
from lro_spec.findings import Finding, Kind, revise
from lro_spec.jsonl.compression import PACKED_SUFFIXES, plain_name, unpacked
from lro_spec.jsonl.lines import Block, Readable
from lro_spec.jsonl.opening import open_regular
from lro_spec.schema.checker import LineSchemaChecker
from lro_spec.validation.descriptor import contradicting_guidance, evaluable, operation_in_name, validate_descriptor
from lro_spec.validation.file import judge_file, looks_offloaded
from lro_spec.validation.guidance import wrong_number
from lro_spec.validation.header import holds_memories
from lro_spec.validation.line import with_place
from lro_spec.validation.payload import payload
from lro_spec.validation.request import Request
from lro_spec.validation.state import FileState
from lro_spec.validation.summary import Facts, Range, estimate_of_header, summary_against_file

if TYPE_CHECKING:
    from lro_spec.validation.recipes import Sample

SAMPLE_RECORDS = 250
"""Recipes run on at most this many records, from the first record on. The number is greater than the round numbers
(such as 100) to which a recipe may limit its output."""

_INSPECTED_BYTES = 64 * 1024
"""Number of bytes that are read to decide whether a file is an LRO file."""
_SAMPLE_BYTES = 1_000_000
_SAMPLE_LINE_BYTES = 4_000_000  # a longer line would use up jq's time limit
_PARTS = ("summary", "line_schema", "jq_recipes", "guidance")


class Following:
    """Validation of one descriptor with its file, and facts about the file."""

    def __init__(
        self,
        descriptor: object,
        *,
        edition: str = "lro-6400",
        folder: str | os.PathLike[str] | None = None,
        wrap_stream: Callable[[str, Readable], Readable] | None = None,
        content: bytes | None = None,
        recipes: bool = True,
        request: Request | None = None,
        resolve_links: Callable[[str], str] = real_path,
    ) -> None:
        """*content* is the content of the file if it was read before. In this case no file is opened.

        *wrap_stream* is called with the path and the stream of the file, and returns the stream to read. If *recipes*
        is false, no recipe is run. *request* is the request of the call, if it is known. If descriptor and file differ,
        the request shows which of them is wrong. *resolve_links* resolves symbolic links in a path. *folder* is
        explained in `follow`.
        """
        self.lines = 0
        """Number of lines of the file that were validated."""
        self.path: str | None = None
        """The file's path. None until the file is opened or its given content is read."""
        self.header: dict[str, Any] | None = None
        """The file's header, if there is one."""
        self.was_read = False
        """True if the file was read, to its end or to a place where compressed data are damaged."""
        self.doubtful = False
        """True if the number of records is unknown, because a line may not be a record or the end could not be read."""
        self.sample: Sample | str = "the file was not read"
        """The beginning of the file, on which recipes run, or the reason why there is none. Only set if the descriptor
        has a list of recipes."""
        self._descriptor = descriptor
        self._edition = edition_named(edition)
        self._folder = folder
        self._wrap_stream = wrap_stream
        self._content = content
        self._runs_recipes = recipes
        self._request = request
        self._resolve_links = resolve_links

    def findings(self) -> Iterator[Finding]:
        """Findings about the descriptor, the file (with its path), and contradictions between the two."""
        if self._edition.name == DEFAULT_EDITION:
            return self._findings()
        from lro_spec.validation.editions import for_edition

        return for_edition(self._findings(), self._edition)

    def _findings(self) -> Iterator[Finding]:
        wrong_parts: set[str] = set()
        # Only the header shows whether these findings apply, for example whether the name or the summary is wrong.
        undecided: list[Finding] = []
        for finding in validate_descriptor(
            self._descriptor, edition=self._edition.name, resolve_links=self._resolve_links
        ):
            if finding.severity == "error" and finding.rule not in _TONE_RULES:
                wrong_parts.add(finding.pointer.removeprefix("/"))
            if finding.kind is Kind.NAME_AGAINST_SUMMARY or (finding.rule, finding.pointer) in _ONLY_FOR_MEMORIES:
                undecided.append(finding)
            else:
                yield finding
        yield from self._about_file(wrong_parts)
        header = self.header or {}
        for finding in undecided:
            if finding.kind is Kind.NAME_AGAINST_SUMMARY:
                if self._request is None and self._named_operation != header.get("operation"):
                    yield finding
            elif holds_memories(header):
                yield finding
        if self._request is not None and self._named_operation not in (None, self._request.operation):
            message, expected = (
                "the operation in the name is not that of the call",
                f"{self._request.operation} in the name",
            )
            yield Finding(
                "LRO-NAME-02", Kind.NOT_AS_ASKED, "/file_path", message, expected, show(self._named_operation)
            )

    @property
    def _named_operation(self) -> str | None:
        """The operation in the file's name. None if the name does not follow the convention."""
        descriptor = self._descriptor
        members: dict[str, Any] = cast("dict[str, Any]", descriptor) if isinstance(descriptor, dict) else {}
        return operation_in_name(str(members.get("file_path")), self._edition)

    def _about_file(self, wrong_parts: set[str]) -> Iterator[Finding]:
        value = self._descriptor
        if not isinstance(value, dict) or "" in wrong_parts:
            return
        descriptor = cast("dict[str, Any]", value)
        stated_path = descriptor.get("file_path")
        if not isinstance(stated_path, str):
            return
        existing = _existing_file(stated_path, self._folder) if self._content is None else stated_path
        if isinstance(existing, Finding):
            yield existing
            return
        if existing != stated_path:
            message = "file_path does not exist on this machine; using the file of that name next to the descriptor"
            expected, hint = (
                f"a file at {stated_path}",
                "this is normal if the descriptor was moved together with its file",
            )
            yield Finding(
                _RULE,
                Kind.MOVED_FILE,
                "/file_path",
                message,
                expected,
                existing,
                hint,
                severity="warning",
            )
        yield from self._compared(descriptor, existing, wrong_parts)

    def _compared(self, descriptor: dict[str, Any], path: str, wrong_parts: set[str]) -> Iterator[Finding]:
        invalid_parts = {pointer.partition("/")[0] for pointer in wrong_parts}
        valid = {part for part in _PARTS if part in descriptor and part not in invalid_parts}
        reader = _Reader(descriptor, valid)
        stated_detail = descriptor["summary"].get("detail") if "summary" in valid else None
        state = FileState(self._edition.name, reader, request=self._request, stated_detail=stated_detail)
        with _Recipes(descriptor, self._edition, state, reader) as recipes:

            def run_recipes() -> None:
                self.sample = _sample(state, reader)
                if self._runs_recipes and state.header is not None:
                    recipes.start(self.sample)

            if isinstance(descriptor.get("jq_recipes"), list):
                reader.run_recipes = run_recipes
            try:
                for finding in self._in_file(path, state):
                    if finding.kind is Kind.NO_FILE:
                        yield finding
                        return
                    # the name was validated with the descriptor
                    if finding.line is not None or finding.rule not in _NAME_RULES:
                        yield revise(finding, path=path)
            except OSError as problem:
                yield Finding(
                    _RULE,
                    Kind.UNREADABLE_FILE,
                    "/file_path",
                    "the file cannot be read",
                    "a readable file",
                    _path_and_reason(path, problem),
                )
                return
            self.lines, self.header, self.was_read, self.doubtful = state.lines, state.header, True, state.doubtful
            for finding in reader.end():
                yield revise(finding, path=path)
            if state.header is None or state.header_line is None:
                return
            if state.opaque:  # an unread record may have other values
                reader.facts.namespaces, reader.facts.scores = None, Range()
            elif reader.facts.characters:
                for finding in estimate_of_header(state.header, reader.facts) if state.memories else ():
                    yield revise(with_place(finding, state.header_line), path=path)
            if not state.memories:
                reader.facts.namespaces = None
            if isinstance(descriptor.get("summary"), dict):
                fields = {pointer.split("/")[1] for pointer in wrong_parts if pointer.startswith("summary/")}
                comparison = descriptor, state.header, reader.facts, state.count, self._edition
                yield from summary_against_file(*comparison, wrong=fields, request=self._request)
            if {"summary", "guidance"} <= valid:
                yield from _wrong_numbers(descriptor, state.header, state.records)
            if "line_schema" in valid and reader.records:
                is_complete = reader.schema == descriptor["line_schema"]
                yield from _vacuous(reader.schema, reader.records, whole=is_complete)
            if reader.records:
                yield from payload(descriptor, reader.records)
            yield from recipes.findings()

    def _in_file(self, path: str, state: FileState) -> Iterator[Finding]:
        name = plain_name(Path(path).name)
        if self._content is not None:
            self.path = path
            yield from judge_file(io.BytesIO(self._content), state, Path(path).name)
            return
        with open_regular(path) as plain:
            seen = cast("Readable", plain)
            stream = unpacked(self._wrap_stream(path, seen) if self._wrap_stream is not None else seen)
            self.path = path
            if (start := stream.peek(_INSPECTED_BYTES)) and not looks_offloaded(start):  # the file may be private
                expected, hint = "an LRO header or a memory in the first 20 lines", "its content is not shown"
                message = "file_path names a file that is no LRO file"
                yield Finding(_RULE, Kind.NO_FILE, "/file_path", message, expected, show(path), hint)
                return
            yield from judge_file(stream, state, name)


_RULE = "LRO-DESC-02"
_TONE_RULES = ("LRO-GUI-01", "LRO-GUI-04")
"""Guidance that breaks these requirements is still checked for wrong numbers."""
_NAME_RULES = ("LRO-NAME-02", "LRO-NAME-03")
_ONLY_FOR_MEMORIES = {
    ("LRO-NAME-02", "/file_path"),
    ("LRO-DESC-05", "/summary/operation"),
    ("LRO-REC-13", "/jq_recipes"),
}
"""Rule and pointer of findings that only apply to descriptors of memories."""


class _Reader:
    """Receives the records and passes them on to three places: the facts for the summary, the schema, and the sample
    for the recipes."""

    def __init__(self, descriptor: Mapping[str, Any], valid: set[str]) -> None:
        scored = "summary" in valid and descriptor["summary"].get("score_range") is not None
        self.facts = Facts(scored=scored)
        self.records: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self.skipped: bool = False
        """True if a line within the sample is not a record."""
        self.overlong = False
        """True if the sample ended at a line that is too long for it."""
        self.run_recipes: Callable[[], None] = _nothing
        self.schema: object = evaluable(descriptor["line_schema"]) if "line_schema" in valid else None
        self._judge = LineSchemaChecker(self.schema) if self.schema is not None else None
        self._bytes = 0
        self._next_line: int = 2

    @property
    def _is_sampled(self) -> bool:
        return len(self.records) >= SAMPLE_RECORDS or self._bytes >= _SAMPLE_BYTES or self.overlong

    def take(
        self, records: list[dict[str, Any]], block: Block, satisfied: bool, reported: Collection[str] = ()
    ) -> Iterator[Finding]:
        self.facts.take(records, block)
        if not self._is_sampled:
            self.skipped = self.skipped or block.number != self._next_line
            for record, line in zip(records, block.lines, strict=True):
                self.overlong = len(line) > _SAMPLE_LINE_BYTES
                if self._is_sampled:
                    break
                self.records.append(record)
                self.lines.append(line)
                self._bytes += len(line)
            self._next_line = block.number + len(records)
            if self._is_sampled:
                self.run_recipes()
        if self._judge is not None:
            yield from self._judge.take(records, block, satisfied=satisfied, reported=reported)

    def end(self) -> Iterator[Finding]:
        self.run_recipes()
        if self._judge is not None:
            yield from self._judge.end()


class _Recipes:
    """Runs the recipes in a thread while the rest of the file is read. The thread mostly waits for jq."""

    def __init__(self, descriptor: Mapping[str, Any], edition: Edition, state: FileState, reader: _Reader) -> None:
        self._descriptor = descriptor
        self._edition = edition
        self._state = state
        self._reader = reader
        self._thread: Thread | None = None
        self._findings: Sequence[Finding] = ()
        self._problem: Exception | None = None

    def __enter__(self) -> _Recipes:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._thread is not None:
            self._thread.join()

    def start(self, sample: Sample | str) -> None:
        """Start the thread, at most once. If *sample* is the reason why there is no sample, recipes are only
        compiled."""
        if self._thread is not None:
            return
        from lro_spec.validation.recipes import RecipeJudge

        def run() -> None:
            try:
                with RecipeJudge() as judge:
                    self._findings = judge.judge(self._descriptor, sample, self._edition).findings
            except Exception as problem:
                self._problem = problem

        self._thread = Thread(target=run, name="recipes")
        self._thread.start()

    def findings(self) -> Sequence[Finding]:
        """The findings, once the thread has ended."""
        if self._thread is not None:
            self._thread.join()
        if self._problem is not None:
            raise self._problem
        if self._reader.overlong and not self._reader.records:
            message, expected = "recipes were not run", f"a first record of at most {_SAMPLE_LINE_BYTES} bytes"
            skipped = Finding(
                "LRO-REC-13", Kind.NOT_EVALUATED, "/jq_recipes", message, expected, "a longer one", severity="warning"
            )
            return [skipped, *self._findings]
        return self._findings


def _sample(state: FileState, reader: _Reader) -> Sample | str:
    """The header and the records read so far, or the reason why recipes cannot be run on them."""
    from lro_spec.validation.recipes import Sample

    header, line = state.header, state.header_line
    if header is None or line is None:
        return "a file has no header"
    if not state.memories:
        return "the standard recipes are for memories, and the file's header says that it holds other records"
    if reader.skipped:
        return "one of the file's first lines is not a record"
    if not reader.records:
        return "the file has no records, or the first one is too long"
    return Sample(b"".join(each + b"\n" for each in (line.data, *reader.lines)), header, list(reader.records))


def _nothing() -> None:
    return None


def follow(
    descriptor: object, *, edition: str = "lro-6400", folder: str | os.PathLike[str] | None = None
) -> Iterator[Finding]:
    """Findings about a descriptor, its file, and contradictions between the two.

    Count, operation, detail, estimate, namespaces and scores are compared; every line is validated against
    ``line_schema``; the recipes run on the first records. If ``file_path`` does not exist, a file of that name in
    *folder* is used, compressed or not. Findings in the file have its path. The content of the descriptor and the file
    never causes an exception. Raises `ValueError` for an unknown edition.
    """
    yield from Following(descriptor, edition=edition, folder=folder).findings()


def _existing_file(named: str, folder: str | os.PathLike[str] | None) -> str | Finding:
    """Return the path of the descriptor's file, or of the file of that name in *folder*. If neither of these files
    exists, return the finding."""
    candidates = [named]
    if folder is not None:
        beside = os.path.join(folder, named.replace("\\", "/").rpartition("/")[2])
        candidates += [beside, *(beside + suffix for suffix in PACKED_SUFFIXES)]
    first: OSError | ValueError | None = None
    for path in candidates:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as problem:
            first = first or problem
            continue
        if not stat.S_ISREG(mode):
            return Finding(
                _RULE, Kind.NO_FILE, "/file_path", "file_path is not a regular file", "a regular file", show(path)
            )
        return path
    missing = isinstance(first, FileNotFoundError | NotADirectoryError | ValueError)  # `ValueError`: a NUL in the path
    hint = "the file was removed, or the descriptor comes from another machine" if missing else ""
    return Finding(
        _RULE,
        Kind.NO_FILE,
        "/file_path",
        "file_path does not exist" if missing else "file_path cannot be looked up",
        "an existing file",
        _path_and_reason(named, first),
        hint,
    )


def _path_and_reason(path: str, problem: Exception | None) -> str:
    return f"{show(path)}: {getattr(problem, 'strerror', None) or problem}"


def _wrong_numbers(descriptor: dict[str, Any], header: dict[str, Any], records: int) -> Iterator[Finding]:
    """Finding about a number in the guidance that differs from the numbers in the descriptor and the file."""
    summary: dict[str, Any] = descriptor["summary"]
    counts = (summary.get("count"), records)
    tokens = (summary.get("estimated_tokens"), header.get("estimated_tokens"))
    wrong = wrong_number(descriptor["guidance"], counts, tokens)
    if wrong is not None:
        yield contradicting_guidance(wrong)


def _vacuous(schema: object, records: list[dict[str, Any]], *, whole: bool) -> Iterator[Finding]:
    """The finding about a schema that does not describe the file's records. *whole* is False if references to other
    documents were left out of the schema. The finding is then a warning, because those documents may describe the
    records."""
    from lro_spec.schema.line_schema import is_vacuous

    if is_vacuous(schema, ()) is not None:
        return  # reported with the descriptor itself
    reason = is_vacuous(schema, records)
    if reason is not None:
        expected = "a schema that names the fields of the file's records"
        message, kind = "line_schema describes other records", Kind.VACUOUS_SCHEMA if whole else Kind.NOT_EVALUATED
        severity = "error" if whole else "warning"
        yield Finding("LRO-DESC-10", kind, "/line_schema", message, expected, reason, severity=severity)
