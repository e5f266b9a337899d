"""Documents of `lro validate`: their kind and their findings."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from lro_conformance.patience import TIMEOUT_S, patient
from lro_conformance.validate.paths import LINES, STDIN
from lro_conformance.validate.visited_files import VisitedFiles
from lro_spec.discovery import find_descriptor, reply_result
from lro_spec.display import pointer
from lro_spec.editions import EDITIONS
from lro_spec.findings import Finding, Kind, excerpt, in_text
from lro_spec.jsonl.compression import DamagedError, Peekable, plain_name, unpacked
from lro_spec.jsonl.lines import Readable
from lro_spec.jsonl.strict import StrictJsonError, loads, nearest_position, position, read
from lro_spec.jsonl.values import not_strict, problems
from lro_spec.schema.bundled import json_schema
from lro_spec.schema.errors import from_schema
from lro_spec.validation.file import looks_offloaded
from lro_spec.validation.header import holds_memories

if TYPE_CHECKING:
    from lro_conformance.profile.errors import Problem

DocumentKind = Literal["descriptor", "header", "file", "profile", "report"]

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
MAX_COMMAS = 100_000
"""A descriptor, header or report is read only if it has at most this many bytes, and at most this many commas. Profiles
have lower limits (`lro_conformance.profile.yaml`)."""

MAX_FINDINGS = 500_000
"""When a file has this many findings, reading it stops."""

_BEFORE_VALUE = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_CHUNK_BYTES = 1024 * 1024
_NO_DESCRIPTOR = "this reply has no descriptor, so the result was not offloaded"
_PEEK_BYTES = 64 * 1024
_MAX_COMMENT_LINES = 200
"""The first key of a profile is searched for in this many lines."""
_PREFIXES = tuple(f"{text.file_prefix}-" for text in EDITIONS.values())
_NEEDS_DESCRIPTOR = "LRO-DESC-09"  # the only finding about lines that depends on the descriptor
_KEYWORDS: tuple[tuple[bytes, DocumentKind], ...] = (
    (b'"lro-report/', "report"),
    (b'"jq_recipes"', "descriptor"),
    (b'"offloaded"', "descriptor"),
    (b'"lro_header"', "header"),
)
"""Texts from which the kind of a document is guessed. The first text in this list that the document contains decides.

The kind is guessed only if the document begins like JSON but is not a JSON object. If the path of the document was not
named as an argument, the document must also not be valid JSON.
"""
_COMPRESSIONS = ((b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"PK\3\4", "zip"), (b"\x04\x22\x4d\x18", "lz4"))


class UnknownKindError(Exception):
    """A document has a kind that `lro validate` does not check, or a kind that cannot be determined. The message names
    the document."""


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a file. If it is a FIFO, do not wait for a process that writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


class Document:
    """One document and its findings."""

    def __init__(
        self,
        path: str,
        kind: str | None,
        edition: str,
        *,
        named: bool = True,
        follow: bool = False,
        wrap_stream: Callable[[str, Readable], Readable] | None = None,
        visited: VisitedFiles | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """*named* is True for a path that is an argument itself. In this case, a file of lines is validated even if the
        lines do not resemble the lines of an offloaded file.

        If *follow* is true and the document is a descriptor, the file that it names is validated, too. *visited* has
        the files that were validated in this way. The file is added to it. If the file was in it before, findings that
        concern only the file are not repeated. *wrap_stream* wraps the stream of the document and the stream of its
        file, to count the bytes that are read. A pipe is read for at most *timeout_s* seconds.
        """
        self.path = path
        """The path of the document; ``-`` is standard input."""
        self.kind = cast("DocumentKind | None", kind)
        """The kind of the document; None until it is detected."""
        self.lines = 0
        """Number of validated lines of offloaded files."""
        self.followed = 0
        """Number of files that were validated because they are named by a descriptor."""
        self.files_without_memories = 0
        """Number of files whose records are not memories."""
        self.lines_path: str = path
        """The file whose lines are validated: the document itself, or the file that is named by the descriptor."""
        self._edition = edition
        self._named = named
        self._follow = follow
        self._wrap_stream = wrap_stream or _unchanged_stream
        self._visited = VisitedFiles() if visited is None else visited
        self._timeout_s = timeout_s
        self._was_visited = False

    def findings(self) -> Iterator[Finding]:
        """Read the document, and yield its findings while it is read.

        Raises `OSError` if the document cannot be read. Raises `UnknownKindError` if its kind cannot be determined or
        is not checked. For example, the kind of a reply without a descriptor is not checked.
        """
        with self._open() as (file, packed):
            stream = unpacked(packed)
            self.kind = self.kind or _kind(self.path, stream, self._named)
            if self.kind == "file":
                yield from self._file(file, stream)
                return
            try:
                whole = _whole(stream)
            except DamagedError as problem:
                yield Finding("json", Kind.DAMAGED, "", "the file cannot be unpacked", "gzip", str(problem))
                return
            yield from _profile(self.path, whole) if self.kind == "profile" else self._json(whole)

    @contextmanager
    def _open(self) -> Generator[tuple[IO[bytes] | None, Peekable]]:
        if self.path == STDIN:
            yield None, Peekable(self._wrap_stream(self.path, self._patient(sys.stdin.buffer)))
            return
        with open(self.path, "rb", buffering=0, opener=_open_nonblocking) as stream:
            if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode) and not stream.isatty():
                raise OSError(errno.EINVAL, "a device, which has no end")
            yield cast("IO[bytes]", stream), Peekable(self._wrap_stream(self.path, self._patient(stream)))

    def _patient(self, stream: IO[bytes] | FileIO) -> Readable:
        return patient(stream, self._timeout_s, "; --timeout S waits longer")

    def _file(self, file: IO[bytes] | None, stream: Peekable) -> Iterator[Finding]:
        from lro_spec.validation.file import judge_file
        from lro_spec.validation.state import FileState

        state = FileState(self._edition)
        path = Path(self.path)
        name = plain_name(path.name) if file is not None and path.is_file() else None  # the name of a pipe is arbitrary
        for count, finding in enumerate(judge_file(stream, state, name), 1):
            yield finding
            if count == MAX_FINDINGS:  # such as in a file that has only newlines
                message, expected = "reading ended here", f"fewer than {MAX_FINDINGS:,} findings in one file"
                yield Finding("LRO-FILE-01", Kind.TOO_LARGE, "", message, expected, "more", line=finding.line)
                break
        self.lines += state.lines
        self.files_without_memories += not state.memories

    def _json(self, data: bytes) -> Iterator[Finding]:
        if len(data) > MAX_DOCUMENT_BYTES:
            expected, hint = f"at most {MAX_DOCUMENT_BYTES} bytes", "--kind file, if this is a file of lines"
            yield Finding("json", Kind.TOO_LARGE, "", f"too large for a {self.kind}", expected, "more", hint)
            return
        if data.count(b",") > MAX_COMMAS:  # each value takes a kilobyte of memory, or more, while it is validated
            message, expected = f"too many values for a {self.kind}", f"at most {MAX_COMMAS:,} commas"
            yield Finding("json", Kind.TOO_LARGE, "", message, expected, "more")
            return
        text = data.decode("utf-8", "replace")
        try:
            value, json_problems = _read(data, text)
        except StrictJsonError as problem:
            yield in_text(not_strict(problem, text), text, problem.offset)
            return
        for problem in json_problems:
            yield in_text(not_strict(problem, text), text, problem.offset)
        if any(problem.kind is Kind.TOO_DEEP for problem in json_problems):
            return
        unclear_indexes = {_value_at(text, problem) for problem in json_problems}
        pointer_to_descriptor = ""
        if self.kind == "descriptor" and (result := reply_result(value)) is not None:
            found = find_descriptor(result)
            if found is None:
                raise UnknownKindError(f"{self.path}: {_NO_DESCRIPTOR}")
            pointer_to_descriptor = f"{'' if result is value else '/result'}{found.pointer}"
            value = found.value
            for problem in problems(found.sources):
                yield in_text(
                    not_strict(*problem, pointer_to_descriptor), text, nearest_position(text, pointer_to_descriptor)
                )
                return
        for finding in self._judged(value):
            if finding.path is not None:
                yield finding
            elif not unclear_indexes or not _is_below(text, pointer_to_descriptor + finding.pointer, unclear_indexes):
                yield in_text(finding, text, nearest_position(text, pointer_to_descriptor + finding.pointer))

    def _judged(self, value: object) -> Iterator[Finding]:
        if self.kind == "header":
            from lro_spec.validation.header import validate_header

            yield from validate_header(value, edition=self._edition)
        elif self.kind == "report":
            yield from _report(value)
        elif self._follow:
            from lro_spec.validation.linked import Following

            folder = None if self.path == STDIN else Path(self.path).parent
            following = Following(
                value,
                edition=self._edition,
                folder=folder,
                wrap_stream=self._wrap_stream,
            )
            for finding in following.findings():
                self._note(following.path)
                if finding.path is None or finding.rule == _NEEDS_DESCRIPTOR or not self._was_visited:
                    yield finding
            self._note(following.path)
            if following.path is not None and not self._was_visited:
                self.lines += following.lines
                self.followed += 1
                self.files_without_memories += not holds_memories(following.header or {})
                if following.was_read:
                    self._visited.add(following.path)
        else:
            from lro_spec.validation.descriptor import validate_descriptor

            yield from validate_descriptor(value, edition=self._edition)

    def _note(self, path: str | None) -> None:
        if path is not None and path != self.lines_path:
            self.lines_path, self._was_visited = path, path in self._visited


def _read(data: bytes, text: str) -> tuple[object, tuple[StrictJsonError, ...]]:
    """The value of a document, and the problems because of which different parsers may read different values.

    Raises `StrictJsonError` if the document is not UTF-8, or if even `lro_spec.jsonl.strict.read` cannot
    read a value from it.
    """
    try:
        return loads(data), ()
    except StrictJsonError as problem:
        if problem.kind is Kind.NOT_UTF8:
            raise
    reading = read(text)
    return reading.value, tuple(p for p in reading.problems if p.kind is not Kind.LONE_SURROGATE)


def _value_at(text: str, problem: StrictJsonError) -> int:
    """The index at which the value with a problem begins. If the problem is a repeated key, this is the value of the
    key."""
    if problem.kind is not Kind.REPEATED_KEY:
        return problem.offset
    _, end = json.JSONDecoder().raw_decode(text, problem.offset)
    before_value = _BEFORE_VALUE.match(text, end)
    return end if before_value is None else before_value.end()


def _is_below(text: str, place: str, unclear: set[int]) -> bool:
    """True if the value at the pointer *place*, or a value that contains this value, begins at one of the *unclear*
    indexes."""
    parts = place.split("/")
    return any(position(text, "/".join(parts[: n + 1])) in unclear for n in range(len(parts)))


def _unchanged_stream(_: str, stream: Readable) -> Readable:
    return stream


def _whole(stream: Readable) -> bytes:
    """The rest of a stream. If it exceeds the size limit, only one byte beyond the limit is read."""
    parts: list[bytes] = []
    left = MAX_DOCUMENT_BYTES + 1
    while left and (part := stream.read(min(left, _CHUNK_BYTES))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _kind(path: str, stream: Peekable, named: bool) -> DocumentKind:
    """Detect the kind of a document by its name (``.yaml``, ``.jsonl``). If the name does not show the kind, detect it
    by the content."""
    name = plain_name(Path(path).name)
    suffix = Path(name).suffix.lower()
    try:
        if suffix in (".yaml", ".yml"):
            if re.search(rb"^accept[ \t]*:", stream.peek(_PEEK_BYTES), re.MULTILINE):  # no profile has this key
                raise UnknownKindError(f"{path}: a baseline is checked where it is used: lro certify --baseline {path}")
            return "profile"
        if suffix in LINES:
            if named or name.startswith(_PREFIXES) or looks_offloaded(stream.peek(_PEEK_BYTES)):
                return "file"
            raise UnknownKindError(f"{path}: not an LRO file (no header or memory in the first 20 lines)")
        return _kind_of(path, stream, named)
    except DamagedError as problem:
        raise UnknownKindError(f"{path}: cannot be unpacked: {problem}") from None


def _kind_of(path: str, stream: Peekable, named: bool) -> DocumentKind:
    start = stream.peek(_CHUNK_BYTES)
    first, _, rest = start.partition(b"\n")
    second = rest.lstrip().partition(b"\n")[0]
    json_object = _json_object(first)
    if (json_object is not None and second) or (json_object is None and _json_object(second) is not None):
        # There are several lines, and the first or the second is an object, so this is a file of lines. If the first is
        # not an object, the header is broken or missing.
        if named or plain_name(Path(path).name).startswith(_PREFIXES) or looks_offloaded(start):
            return "file"
        if json_object is not None:
            raise UnknownKindError(f"{path}: not an LRO file (no header or memory in the first 20 lines)")
    whole = start if json_object is not None else stream.peek(MAX_DOCUMENT_BYTES)
    json_object = json_object or _json_object(whole)
    if json_object is None:
        may_be_guessed = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and (named or not _is_json(whole))
        keywords = _KEYWORDS if may_be_guessed else ()
        kind: DocumentKind | None = next((kind for word, kind in keywords if word in start), None)
        if kind is None and _looks_like_profile(start):
            kind = "profile"
        if kind is None:
            compression = next((how for magic, how in _COMPRESSIONS if start.startswith(magic)), None)
            if compression is not None:
                raise UnknownKindError(f"{path}: compressed by {compression}; only gzip is supported")
            content = "no JSON object" if start.strip() else "empty"
            raise UnknownKindError(f"{path}: {content}, so its kind cannot be detected: name it with --kind")
        return kind
    if json_object.get("type") == "lro_header":
        return "header"
    format_name = str(json_object.get("format", ""))
    if format_name.startswith("lro-report"):
        return "report"
    if format_name.startswith("lro-evidence"):
        raise UnknownKindError(f"{path}: evidence of a run is judged as a whole: lro judge {Path(path).parent}")
    if (result := reply_result(json_object)) is not None:
        if find_descriptor(result) is None:
            raise UnknownKindError(f"{path}: {_NO_DESCRIPTOR}")
        return "descriptor"
    if "offloaded" in json_object or "file_path" in json_object or "jq_recipes" in json_object:
        return "descriptor"
    raise UnknownKindError(
        f"{path}: cannot tell what this is; name it with --kind descriptor|header|file|profile|report"
    )


def _looks_like_profile(start: bytes) -> bool:
    """True if the first line that is neither blank nor a comment begins with a key of a profile in YAML."""
    lines = (line.strip() for line in start.split(b"\n", _MAX_COMMENT_LINES))
    first = next((line for line in lines if line and not line.startswith((b"#", b"---"))), b"")
    return first.partition(b":")[0].decode("utf-8", "replace") in json_schema("profile")["properties"]


def _json_object(data: bytes) -> dict[str, Any] | None:
    try:  # lenient, because the strict reader finds all problems later
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _report(value: object) -> Iterator[Finding]:
    from lro_spec.schema.errors import violations

    for error in violations(value, "report"):
        yield from_schema(error, "report", "the report")


def _profile(path: str, data: bytes) -> Iterator[Finding]:
    from lro_conformance.profile import ProfileError, parse

    try:
        parse(data, path)
    except ProfileError as error:
        lines = data.decode("utf-8-sig", "replace").split("\n")
        for problem in error.problems:
            finding = _finding_of(problem)
            if problem.line is not None:
                line, column = lines[problem.line - 1].removesuffix("\r"), problem.column
                shown = None if problem.is_private else excerpt(line, (column or 1) - 1)
                finding = replace(finding, line=problem.line, column=column, excerpt=shown)
            yield finding


def _finding_of(problem: Problem) -> Finding:
    """Convert a problem of a profile to a finding."""
    key, where, wrong = problem.key or "the profile", pointer(list(problem.path)), problem.complaint
    sentence = f"{key}: {wrong.message}" if problem.key else wrong.message
    match wrong.kind:
        case _ if wrong.expected:
            message, expected, observed, hint = f"{key} is wrong", wrong.expected, wrong.observed, wrong.hint
        case Kind.MISSING_FIELD:
            message, expected, observed, hint = sentence, "a value, because the key is required", "nothing", ""
        case Kind.UNKNOWN_FIELD:
            message, expected, observed, hint = wrong.message, "", "", wrong.hint  # the pointer names the key
        case _:
            message, expected, observed, hint = sentence, "", "", wrong.hint
    return Finding("profile", wrong.kind, where, message, expected, observed, hint)
