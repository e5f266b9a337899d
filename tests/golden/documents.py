"""Documents of `lro validate`: each kind, what tells it and what only resembles it, and what is wrong with it."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack, chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace as Made
from typing import Any
from unittest.mock import patch

from lro_conformance.validate import document as documents
from lro_conformance.validate.document import Document, UnknownKindError
from lro_conformance.validate.visited_files import VisitedFiles
from tests.golden import Cases, Said
from tests.golden.files import HEADER, NAME, told

A = {"id": "a", "title": "A"}
OTHER = {"level": "info"}
DESCRIPTOR: dict[str, Any] = {
    "offloaded": True, "file_path": NAME, "line_schema": {"properties": {"id": {}}}, "guidance": f"See {NAME}.",
    "summary": {
        "count": 2, "estimated_tokens": 10, "operation": "recall", "detail": "light", "top_namespaces": [],
    },
}  # fmt: skip
REPORT = {"format": "lro-report/1"}
ERROR = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "ok"}]}}


def lines(*values: Any) -> bytes:
    """Values or bytes, a line each."""
    return b"".join((v if isinstance(v, bytes) else json.dumps(v).encode()) + b"\n" for v in values)


def spread(value: Any) -> bytes:
    """A value on lines of which none is JSON by itself."""
    return json.dumps(value, indent=1).encode()


def reply(value: Any, *, structured: bool = False, rpc: bool = False) -> bytes:
    """The reply to a call."""
    text = value if isinstance(value, str) else json.dumps(value)
    result = {"structuredContent": value} if structured else {"content": [{"type": "text", "text": text}]}
    return spread({"jsonrpc": "2.0", "id": 1, "result": result} if rpc else result)


def judged(path: str, **options: Any) -> list[str]:
    """What is said of one document."""
    known = {"kind": None, "edition": "lro-6400", **options}
    document = Document(path, **known)
    try:
        found = [told(f) for f in document.findings()]
    except (UnknownKindError, OSError) as problem:
        return [f"{type(problem).__name__}: {problem}"]
    one = document
    of_lines = f", lines of {one.lines_path}" if one.lines_path != path else ""
    return [
        f"{one.kind}: {one.lines} lines, {one.followed} followed, {one.files_without_memories} of others{of_lines}",
        *found,
    ]


def of(
    data: bytes,
    name: str = "x.json",
    *,
    limits: Mapping[str, int] | None = None,
    beside: Mapping[str, bytes] | None = None,
    piped: bool = False,
    before: tuple[str, ...] = (),
    **options: Any,
) -> Said:
    """What is said of a document of these bytes.

    *limits*: other values of the module's own; *beside*: other files of its folder; *piped*: through standard input;
    *before*: which were judged before it.
    """

    def say() -> list[str]:
        with TemporaryDirectory() as folder, chdir(folder), ExitStack() as stack:
            for file, content in {**(beside or {}), name: data}.items():
                Path(file).write_bytes(content)
            for limit, value in (limits or {}).items():
                stack.enter_context(patch.object(documents, limit, value))
            if piped:
                stack.enter_context(patch.object(sys, "stdin", Made(buffer=io.BytesIO(data))))
            known = {**options, "visited": VisitedFiles()}
            for file in before:
                judged(file, **known)
            return judged("-" if piped else name, **known)

    return say


def kinds(data: bytes, name: str = "x.json", **options: Any) -> Said:
    """Its kind, or why it has none: where it was named itself, and where not."""

    def say() -> list[str]:
        return [of(data, name, named=named, **options)()[0] for named in (True, False)]

    return say


def first(number: int, value: Any = HEADER) -> bytes:
    """Lines of others, and what tells at this place."""
    return lines(*[OTHER] * (number - 1), value)


MANY = lines({**HEADER, "count": 5}, A, {"id": 3}, {"id": ""}, {"id": "b", "content": "x"}, {"id": "a"})
OF_OTHERS = lines({**HEADER, "schema_version": "0", "extra": {}}, {"x": 1}, {"x": 2})
WRONG = lines({**HEADER, "count": 3}, A, {"id": ""}, {"id": "c", "title": 3})
PROFILE = b"server:\n  command: [run]\n"
BOTH = {**DESCRIPTOR, "line_schema": {"required": ["title"]}}
LED: dict[str, Any] = {"follow": True, "beside": {NAME: WRONG}}

CASES: Cases = {
    # by the name
    "a profile by its name": kinds(b"[]", "x.yaml"),
    "a profile by its shorter name": kinds(PROFILE, "x.YML"),
    "a profile, compressed": of(gzip.compress(PROFILE + b"x: 1\n"), "lro.yaml.gz"),
    "a baseline": kinds(b"accept: []\n", "x.yaml"),
    "a baseline, later": kinds(b"# open\naccept \t: []\n", "x.yml"),
    "a baseline further on": kinds(PROFILE + b"#" * 80 + b"\naccept: []\n", "x.yaml", limits={"_PEEK_BYTES": 100}),
    "a key below another": kinds(PROFILE + b"  accept: []\n", "x.yaml"),
    "lines by the name": kinds(lines(OTHER, OTHER), "x.jsonl"),
    "lines by the other name": kinds(lines(HEADER, A), "x.ndjson"),
    "lines with the prefix": kinds(lines(OTHER), "atlatl-x.jsonl"),
    "lines with the paper's prefix": kinds(lines(OTHER), "lro-x.jsonl"),
    "lines with the prefix alone": kinds(lines(OTHER, OTHER), "atlatl-x.txt"),
    "lines with the prefix, compressed": kinds(gzip.compress(lines(OTHER, OTHER)), "atlatl-x.gz"),
    "lines, compressed and cut off": kinds(b"\x1f\x8b\x08", "x.jsonl.gz"),
    "compressed and cut off": kinds(b"\x1f\x8b\x08", "x.json"),
    "a memory among the first lines": kinds(first(20, A), "x.jsonl"),
    "a memory after the first lines": kinds(first(21, A), "x.jsonl"),
    "a memory after what is looked at": kinds(first(2, A), "x.jsonl", limits={"_PEEK_BYTES": 20}),
    "a memory with a number": kinds(lines({"id": 1, "title": "A"}), "x.jsonl"),
    "something with an id": kinds(lines({"id": "a", "level": "info"}), "x.jsonl"),
    "a title without an id": kinds(lines({"title": "A"}), "x.jsonl"),
    "a memory after a long line": kinds(lines({"x": "x" * 2000}, A), "x.jsonl"),
    # by what is written there
    "lines of others, meant": of(lines(OTHER, OTHER)),
    "lines of others": kinds(lines(OTHER, OTHER)),
    "lines of LRO": kinds(lines(HEADER, A)),
    "lines of which the first is cut off": kinds(lines(b'{"id": "a', A)),
    "lines of which both are cut off": kinds(lines(b'{"id": "a', b'{"id"')),
    "text before lines of others": kinds(lines(b"started", OTHER)),
    "a blank line before the second": kinds(lines(OTHER, b" ", OTHER)),
    "an object and a blank line": kinds(lines({"offloaded": True}, b" ")),
    "an object of others": kinds(lines(OTHER)),
    "an empty object": kinds(b"{}"),
    "a list": kinds(b"[1]"),
    "a list of descriptors": kinds(spread([DESCRIPTOR])),
    "words": kinds(b"no JSON"),
    "nothing": kinds(b""),
    "spaces": kinds(b" \n\n"),
    "nested too deep": kinds(b"[" * 100_000 + b"\n"),
    "nested too deep, of a descriptor": kinds(b'{"offloaded": ' + b"[" * 100_000),
    "bytes that are no text": kinds(b"\xff\xfe{\n"),
    "a header": kinds(spread(HEADER)),
    "a header of another type": kinds(spread({**HEADER, "type": "header"})),
    "a report": kinds(spread(REPORT)),
    "a report of a format that is no word": kinds(spread({"format": 3})),
    "evidence": kinds(spread({"format": "lro-evidence/1"})),
    **{f"an object with {name}": kinds(spread({name: 1})) for name in ("offloaded", "file_path", "jq_recipes", "x")},
    "a broken descriptor": kinds(b'{"offloaded": true,'),
    "a broken descriptor with recipes": kinds(b'{"lro_header": 1, "jq_recipes": ['),
    "a broken header": kinds(b'{"type": "lro_header",'),
    "a broken report": kinds(b'{"format": "lro-report/1", "offloaded": "jq_recipes",'),
    "a broken file of others": kinds(b'{"level": "info",'),
    "a broken file that tells late": kinds(
        b'{"x": "' + b"x" * 80 + b'", "offloaded": true,', limits={"_CHUNK_BYTES": 60}
    ),
    "a broken file that tells after some": kinds(b'{"x": "' + b"x" * 3000 + b'", "offloaded": true,'),
    "an object that tells late": kinds(spread({"x": "x" * 80, "offloaded": True}), limits={"_CHUNK_BYTES": 60}),
    "a descriptor larger than what is looked at": kinds(spread(DESCRIPTOR), limits={"_CHUNK_BYTES": 60}),
    "a descriptor on one line, larger than that": kinds(json.dumps(DESCRIPTOR).encode(), limits={"_CHUNK_BYTES": 60}),
    "larger than may be": kinds(spread({"x": 1, "y": 2}), limits={"_CHUNK_BYTES": 4, "MAX_DOCUMENT_BYTES": 8}),
    "a profile": kinds(PROFILE, "x"),
    "a profile with comments": kinds(b"# c\n---\n\n  \nsettings: {}\n", "x"),
    "a profile after 200 lines": kinds(b"#\n" * 200 + PROFILE, "x"),
    "a profile after 201 lines": kinds(b"#\n" * 201 + PROFILE, "x"),
    "a key of others": kinds(b"name: x\nserver: y\n", "x"),
    "a key in quotes": kinds(b'"server": y\n', "x"),
    "comments alone": kinds(b"# x\n", "x"),
    **{
        f"compressed by {how}": kinds(magic + b"\0" * 20, "x")
        for how, magic in (("bzip2", b"BZh9"), ("xz", b"\xfd7zXZ\0"), ("zip", b"PK\3\4"), ("lz4", b"\x04\x22\x4d\x18"))
    },
    # through a pipe
    "a piped file": of(lines(HEADER, A), piped=True),
    "a piped file, and one of the pipe's name": of(lines(HEADER, A), "-", piped=True),
    "a piped profile": of(PROFILE + b"x: 1\n", piped=True),
    "a piped descriptor that leads to a file": of(spread(DESCRIPTOR), piped=True, **LED),
    "a piped descriptor of a file beside it": of(spread({**DESCRIPTOR, "file_path": NAME}), piped=True, **LED),
    "a piped descriptor of a file that is not there": of(
    spread({**DESCRIPTOR, "file_path": f"/away/{NAME}"}), piped=True, **LED),
    # replies
    "a reply": of(reply({**DESCRIPTOR, "offloaded": 3})),
    "a reply in JSON-RPC": of(reply({**DESCRIPTOR, "offloaded": 3}, rpc=True)),
    "a structured reply": of(reply({**DESCRIPTOR, "offloaded": 3}, structured=True)),
    "a structured reply in JSON-RPC": of(reply({**DESCRIPTOR, "offloaded": 3}, structured=True, rpc=True)),
    "a reply that is no strict JSON": of(reply('see {"offloaded": true, "offloaded": true, "x": NaN}')),
    "a reply without a descriptor": kinds(spread(ERROR["result"])),
    "a reply without a descriptor, in JSON-RPC": kinds(spread(ERROR)),
    "a reply without a descriptor that is told to be one": of(spread(ERROR), kind="descriptor"),
    "a descriptor in two objects": of(reply({"result": {**DESCRIPTOR, "guidance": 3}})),
    # what is wrong
    "a sound report is long, and this is none": of(spread(REPORT)),
    "a report that is a list": of(b"[]", kind="report"),
    "a header with faults": of(spread({**HEADER, "count": "2", "detail": 3})),
    "a header as the paper has it": of(spread({**HEADER, "detail": 3}), edition="lro-paper"),
    "a descriptor with faults": of(spread({**DESCRIPTOR, "summary": 3, "guidance": 3})),
    "a descriptor as the paper has it": of(spread({**DESCRIPTOR, "guidance": 3}), edition="lro-paper"),
    "a descriptor that is a list": of(b"[1]", kind="descriptor"),
    "no strict JSON": of(b'{"offloaded": true,\n "x": NaN}'),
    "no JSON": of(b'{"offloaded": true,\n"x" 3}'),
    "not UTF-8": of(b'{"offloaded": true,\n "x\xff": 3}'),
    "as large as may be": of(b'{"type":"lro_header"}', limits={"MAX_DOCUMENT_BYTES": 21}),
    "too large": of(b'{"type":"lro_header"} ', limits={"MAX_DOCUMENT_BYTES": 21}),
    "too large by far, read in parts": of(b'{"type":"lro_header"' + b" " * 99, kind="header", limits={
    "MAX_DOCUMENT_BYTES": 30, "_CHUNK_BYTES": 8}),
    "large": of(spread(HEADER) + b" " * (2 << 20)),
    "read in parts": of(spread(HEADER), kind="header", limits={"_CHUNK_BYTES": 7}),
    "a profile that is a list": of(b"# a list\n- a\n", "x.yaml"),
    "a profile with faults": of(PROFILE + b"bogus: 1\nseed: {command: x}\nsettings:\n  ttl: 3\n", "x.yaml"),
    "a profile with more faults": of(
    b"server:\n  command: run it\n  timeout_s: soon\nedition: lro-640\nlevel: '3'\n", "x.yaml"),
    "a profile without a command": of(b"server: {}\n", "x.yaml"),
    "a profile that is nothing": of(b"", "x.yaml"),
    "a profile that is no YAML": of(b"server: [\n", "x.yaml"),
    "a profile that is no text": of(b"server:\n  \xff\n", "x.yaml"),
    "a profile with a byte order mark": of(b"\xef\xbb\xbfbogus: 1\r\nserver: {command: [x], y: 1}\r\n", "x.yaml"),
    "a profile with a word that is not filled in": of(b"server: {command: [x, '{workdirs}']}\n", "x.yaml"),
    "a profile with a value of two lines": of(b'server: {command: [x]}\nedition: "a\n\n  b"\n', "x.yaml"),
    "a profile with a path of two lines": of(b'server: {command: [x]}\nconfig_file: "a\\nb; c"\n', "x.yaml"),
    "a file with faults": of(MANY, NAME),
    "a file by the paper": of(MANY, NAME, edition="lro-paper"),
    "a file of others": of(OF_OTHERS, "x.jsonl"),
    # what descriptors lead to
    "a descriptor that leads to a file": of(spread(BOTH), **LED),
    "a descriptor that leads to it again": of(spread(BOTH), before=("x.json",), **LED),
    "a descriptor that is not followed": of(spread(BOTH), beside={NAME: WRONG}),
    "a descriptor of a file beside it": of(spread({**DESCRIPTOR, "file_path": f"/away/{NAME}"}), **LED),
    "a descriptor with a name before that of a pipe": of(
    spread({**DESCRIPTOR, "file_path": f"/away/{NAME}"}), "(1).json", **LED),
    "a descriptor of a file that is not there": of(spread({**DESCRIPTOR, "file_path": "/away/x.jsonl"}), **LED),
    "a descriptor of a file that is damaged": of(spread({**DESCRIPTOR, "file_path": "x.gz"}), follow=True,
    beside={"x.gz": gzip.compress(WRONG, mtime=0)[:-9]}),
    "a descriptor of a file of others": of(spread(DESCRIPTOR), follow=True, beside={NAME: OF_OTHERS}),
    "a descriptor of a file without a header": of(spread(DESCRIPTOR), follow=True, beside={NAME: lines(A)}),
    "a descriptor that leads, in a reply": of(reply(BOTH, rpc=True), **LED),
    "a header that is to be followed": of(spread(HEADER), follow=True),
}  # fmt: skip
