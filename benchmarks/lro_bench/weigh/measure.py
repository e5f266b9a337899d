"""The weight of one result: its size and form, the part that each client would show, and a descriptor in its place."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

from lro_bench.ceilings import CEILINGS
from lro_bench.tokens import VOCABULARIES, count_by
from lro_proxy import Interceptor
from lro_proxy.payload.records import payload_records
from lro_proxy.payload.result import result_of_program
from lro_reference.settings import Settings
from lro_spec.discovery import find_descriptor
from lro_spec.jsonl.lossless import InexactError
from lro_spec.messages import OffloadResponse

THRESHOLD = 6400
QUERY_RECORDS = 10
"""Number of records that the typical query returns: as many as a page."""
_CUTS = re.compile(
    r"truncat|has_?more|next_?(?:cursor|page|range|offset)|omitted|limit(?:ed)? reached|rows? not shown",
    re.IGNORECASE,
)
_KINDS = {"image": "image", "audio": "audio", "resource": "embedded resource", "resource_link": "resource link"}
"""Types of content blocks that have no text of their own."""
_EDGE = 3_000
"""Characters at either end of a result in which a server says that it has cut it."""
_OFFLOADED = "/tmp/lro/lro-results-01JZZZZZZZZZZZZZZZZZZZZZZZ.jsonl"
"""The path that is counted in place of the real one, which differs each time."""
_SAVED = "/tmp/results/result.txt"


@dataclass(frozen=True, slots=True)
class Shown:
    """Part of a result that a client shows."""

    tokens: int
    is_cut: bool
    is_saved: bool


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of a result. Characters are Unicode code points."""

    reply_bytes: int
    """Bytes of the line that carried it."""
    text_characters: int
    structured_characters: int
    """Characters of the structured content as compact JSON."""
    blocks: int
    """Content blocks of any type."""
    tokens: dict[str, int]
    """Tokens of text and structured content together, by vocabulary."""
    text_tokens: int
    """Tokens of the text by o200k."""
    structured_tokens: int
    duplication: str
    """``none``, ``both`` (text and structured content hold the same), or ``different``."""
    form: str
    """The form of the text or structured content, in a word or two, and the content that is not counted."""
    records: int
    """Records that the interceptor makes of it."""
    fields: list[str]
    """Their fields; empty for lines of text."""
    cuts_itself: str
    """The word by which the server says that the result is incomplete; empty if it does not say so."""
    clients: dict[str, Shown]
    """Part that each client would show, by the name of its rule."""
    descriptor_tokens: int | None
    """Tokens of the descriptor; None if the result stays inline at the threshold."""
    query_tokens: int | None
    """Tokens of a query that prints ten records, with its output."""
    is_offloaded: bool = False
    """True if the server has offloaded the result itself."""
    problems: list[str] = field(default_factory=list[str])
    sha256: str = ""
    """Digest of the result as compact JSON."""


def text_blocks(result: Mapping[str, Any]) -> list[str]:
    """The texts of a result's content."""
    content = result.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    texts = [cast("dict[str, Any]", block).get("text") for block in blocks if isinstance(block, dict)]
    return [text for text in texts if isinstance(text, str)]


def not_counted(result: Mapping[str, Any]) -> list[str]:
    """The kinds of content blocks without text, whose tokens are not counted; each kind once."""
    content = result.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    kinds: dict[str, None] = {}
    for block in blocks:
        members = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
        if not isinstance(members.get("text"), str) and (kind := members.get("type")) != "text":
            kinds[_KINDS.get(str(kind), "content of an unknown type")] = None
    return list(kinds)


def compact(value: object) -> str:
    """A JSON value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def weigh_result(result: Mapping[str, Any], reply_bytes: int, tool: str, threshold: int = THRESHOLD) -> Weight:
    """Weigh the result of a call."""
    line = compact(result).encode("utf-8", "surrogatepass")
    result = _without_half_pairs(result)
    texts = text_blocks(result)
    text = "\n".join(texts)
    structured = result.get("structuredContent")
    structured_text = "" if structured is None else compact(structured)
    content: Any = result.get("content")
    found = find_descriptor(dict(result))
    records, fields, problems = _shape(result)
    descriptor, query = (None, None) if found else _descriptor(result, tool, threshold)
    for_clients = structured_text or text  # if a result has both, clients show the structured content
    return Weight(
        reply_bytes=reply_bytes,
        text_characters=sum(map(len, texts)),
        structured_characters=len(structured_text),
        blocks=len(cast("list[Any]", content)) if isinstance(content, list) else 0,
        tokens={
            name: sum(count_by(name, part) for part in (*texts, structured_text))
            for name in (*VOCABULARIES, "characters/4")
        },
        text_tokens=sum(count_by("o200k", part) for part in texts),
        structured_tokens=count_by("o200k", structured_text),
        duplication=_duplication(texts, structured),
        form=_form_of(text, structured, not_counted(result)),
        records=records,
        fields=fields,
        cuts_itself=_says_cut(for_clients),
        clients={name: _shown(rule.apply(for_clients, _SAVED)) for name, rule in CEILINGS.items() if name != "none"},
        descriptor_tokens=descriptor,
        query_tokens=query,
        is_offloaded=found is not None,
        problems=problems,
        sha256=hashlib.sha256(line).hexdigest(),
    )


def _without_half_pairs(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result with a question mark for each half of a surrogate pair: JSON may have one, files and tokenizers may
    not."""
    text = compact(result)
    whole = text.encode("utf-8", "replace").decode()
    return result if whole == text else json.loads(whole)


def _shown(shown: Any) -> Shown:
    return Shown(count_by("o200k", shown.text), shown.is_cut, shown.is_saved)


def _duplication(texts: list[str], structured: object) -> str:
    if structured is None or not texts:
        return "none"
    whole = "\n".join(texts)
    value = _loaded(whole)
    members = list(cast("dict[str, Any]", structured).values()) if isinstance(structured, dict) else []
    if structured == value or any(member in (value, whole) for member in members):
        return "both"
    blocks = [_loaded(text) for text in texts]
    return "both" if any(member == blocks for member in members) else "different"


def _loaded(text: str) -> Any:
    """The JSON value of a text; the text itself if it is not JSON, or is nested too deeply to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _form_of(text: str, structured: object, uncounted: Sequence[str]) -> str:
    """The form of the content that is counted, and the kinds of content that are not counted."""
    counted = _form(text, structured)
    if not uncounted:
        return counted
    named = f"{', '.join(uncounted)}, not counted"
    return named if counted == "empty" else f"{counted}; {named}"


def _form(text: str, structured: object) -> str:
    value = structured if structured is not None else _loaded(text)
    match value:
        case list():
            return "JSON array"
        case dict():
            entries = cast("dict[str, Any]", value)
            longest = max(entries.values(), key=lambda part: len(compact(part)), default=None)
            if isinstance(longest, str):
                return _text_form(longest)
            return "JSON object around an array" if isinstance(longest, list) else "JSON object"
        case str():
            return _text_form(value)
        case _:
            return "JSON value"


def _text_form(text: str) -> str:
    lines = text.strip().splitlines()
    if not lines:
        return "empty"
    if len(lines) == 1:
        return "text of one line"
    sample = lines[1 : min(len(lines), 200)]
    if sum(line.startswith(("{", "[")) and isinstance(_loaded(line), dict | list) for line in sample) > 0.8 * len(
        sample
    ):
        return "JSON Lines"
    if any(line.startswith(("diff --git", "@@ ")) for line in lines[:2000]):
        return "diff"
    for separator, name in ((",", "CSV"), ("\t", "TSV")):
        counts = {line.count(separator) for line in sample}
        if len(counts) == 1 and counts != {0}:
            return name
    if sum(bool(re.match(r"[^\s:]+:\d+[:-]", line)) for line in sample) > 0.8 * len(sample):
        return "path:line:text"
    if text.lstrip().startswith(("<!", "<html", "<table", "<?xml")):
        return "markup"
    return "lines of text"


def _says_cut(text: str) -> str:
    ends = text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    found = _CUTS.search(ends)
    return found[0] if found else ""


def _shape(result: Mapping[str, Any]) -> tuple[int, list[str], list[str]]:
    """Number of records, their fields, and the problems, if any, because of which there are none."""
    try:
        made = payload_records(result_of_program(result))
    except (InexactError, ValueError) as problem:
        return 0, [], [str(problem)]
    if made is None:
        return 0, [], []
    first = next(iter(made.records), None)
    return len(made.lines), list(first) if isinstance(first, Mapping) else [], []


def _descriptor(result: Mapping[str, Any], tool: str, threshold: int) -> tuple[int | None, int | None]:
    """Tokens of the descriptor that the interceptor returns, and of a query of ten records with its output."""
    with tempfile.TemporaryDirectory(prefix="lro-weigh-") as folder:
        offload = Interceptor(Settings(threshold_tokens=threshold, output_dir=folder), emit=lambda event: None)
        answer = offload.result(result, tool=tool)
        found = None if answer is result else find_descriptor(dict(answer))
        if found is None:
            return None, None
        response = OffloadResponse.from_dict(found.value)
        with open(response.file_path, encoding="utf-8") as file:
            records = "".join(islice(file, 1, QUERY_RECORDS + 1))
        command = f"head -n {QUERY_RECORDS + 1} {_OFFLOADED} | tail -n +2"
        text = compact(response.to_dict()).replace(response.file_path, _OFFLOADED)
        return count_by("o200k", text), count_by("o200k", command) + count_by("o200k", records)
