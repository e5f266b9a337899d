"""Search for a descriptor in the result of a tool call, wherever a server put it.

A descriptor is the object that a server returns instead of a result that is too large. MCP gives the server two places
for it: text blocks and `structuredContent`. Frameworks may wrap the descriptor in an object, in a sentence, or in a
JSON string that is a member of an object. All of these forms are accepted, and none of them is reported as an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast

from lro_spec.jsonl.strict import too_deep

_MAX_BRACES = 64
"""Maximum number of opening braces in a text that are tried as the beginning of a descriptor. A descriptor is near the
beginning of its text. If there are more braces before it, they belong to a payload."""


class _Found(NamedTuple):
    """A descriptor in a value or text, the rest of that value or text, and the JSON texts from which the descriptor was
    parsed."""

    value: dict[str, Any]
    rest: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundDescriptor:
    """A descriptor in a result, not yet validated."""

    value: dict[str, Any]
    """The descriptor. If a text block and `structuredContent` both contain a descriptor, this is the descriptor in the
    text block, because a model reads the text block."""
    where: Literal["text", "structured", "both"]
    """The place of the descriptor: in a text block, in `structuredContent`, or in both."""
    text_value: dict[str, Any] | None
    structured_value: dict[str, Any] | None
    surrounding_text: str
    """All other text of the content blocks and of `structuredContent`. If the server also returns the records
    themselves, they are in this text."""
    pointer: str = ""
    """JSON pointer (RFC 6901) within the result, to the text or the structured content that contains the descriptor."""
    sources: tuple[str, ...] = field(default=(), compare=False)
    """The JSON texts that were parsed, leniently, to get the descriptor: the text block (or the part of it that is
    JSON), and the JSON string in a member of an object. Empty if no text had to be parsed, because the descriptor is an
    object in `structuredContent`."""


def find_descriptor(call_tool_result: Mapping[str, Any]) -> FoundDescriptor | None:
    """Return the descriptor in a `tools/call` result, or None if the result contains none. Inline results contain none.

    An object is a descriptor if its `offloaded` is set and is not false. It is also a descriptor if it has a
    `file_path` together with a `line_schema`, with `jq_recipes`, or with a `summary` that is an object. A member that
    is null counts as absent. The descriptor may be a whole text, a part of a sentence, or a member of an object. Such a
    member may also be a string that contains the descriptor as JSON.
    """
    other_texts: list[str] = []
    from_text: _Found | None = None
    pointer = "/structuredContent"
    for place, text in _texts(call_tool_result.get("content")):
        found = None if from_text else _in_text(text)
        if found is None:
            other_texts.append(text)
        else:
            from_text = found
            pointer = place
            other_texts.append(found.rest)
    from_structured = _in_value(call_tool_result.get("structuredContent"))
    if from_structured is not None:
        other_texts.append(from_structured.rest)
    found = from_text or from_structured
    if found is None:
        return None
    where = "both" if from_text and from_structured else "text" if from_text else "structured"
    if where == "text" and call_tool_result.get("structuredContent") is not None:
        other_texts.append(_dump(call_tool_result["structuredContent"]))
    rest = "\n".join(a for a in other_texts if a.strip())
    text_value, structured_value = from_text and from_text.value, from_structured and from_structured.value
    return FoundDescriptor(found.value, where, text_value, structured_value, rest, pointer, found.sources)


def reply_result(value: object) -> dict[str, Any] | None:
    """Return the result of a tool call in a document: the document itself, or the result in a JSON-RPC reply.

    Returns None if the document is neither a result nor a reply with one. A descriptor is not a result, whatever other
    fields it has.
    """
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, Any]", value)
    inner: object = members.get("result")
    if "jsonrpc" in members and isinstance(inner, dict):
        return cast("dict[str, Any]", inner)
    # The content of a result is a list of blocks. If `content` is a string, the document is a record with a text.
    holds_blocks = isinstance(members.get("content"), list) or "structuredContent" in members
    if holds_blocks and not _is_descriptor(members):
        return members
    return None


def _texts(content: object) -> Iterator[tuple[str, str]]:
    """The texts of a result's content, each with the pointer to it."""
    for place, block in enumerate(cast("list[object]", content) if isinstance(content, list) else []):
        if not isinstance(block, Mapping):
            continue
        members = cast("Mapping[str, Any]", block)
        resource: object = members.get("resource")
        holder = cast("Mapping[str, Any]", resource) if isinstance(resource, Mapping) else members
        text: object = holder.get("text")
        if isinstance(text, str):
            yield f"/content/{place}/{'text' if holder is members else 'resource/text'}", text


def _in_text(text: str) -> _Found | None:
    """The descriptor in a text, and the rest of that text."""
    if "offloaded" not in text and "file_path" not in text:
        return None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return _in_sentence(text)
    found = None if too_deep(whole) else _in_value(whole)
    return found and found._replace(sources=(text, *found.sources))


def _in_sentence(text: str) -> _Found | None:
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MAX_BRACES):
        if start < 0:
            return None
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        found = None if too_deep(value) else _in_value(value)
        if found is not None:
            # A byte order mark before the JSON is part of the source and will be reported, as strict JSON allows none.
            source = text[0 if text[:start].strip() == "\ufeff" else start : end]
            return _Found(found.value, f"{text[:start]}{found.rest}{text[end:]}", (source, *found.sources))
        start = text.find("{", end)
    return None


def _in_value(value: object) -> _Found | None:
    """The descriptor that a JSON value is or contains, and the rest of the value as JSON."""
    if not isinstance(value, dict):
        return None
    members = cast("dict[str, Any]", value)
    if _is_descriptor(members):
        return _Found(members, "")
    for key, member in members.items():
        inner = _parsed(member) if isinstance(member, str) else member
        if isinstance(inner, dict) and _is_descriptor(cast("dict[str, Any]", inner)):
            rest = {k: v for k, v in members.items() if k != key}
            sources = (member,) if isinstance(member, str) else ()
            return _Found(cast("dict[str, Any]", inner), _dump(rest) if rest else "", sources)
    return None


def _parsed(text: str) -> object:
    if not text.lstrip().startswith("{") or ("offloaded" not in text and "file_path" not in text):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if too_deep(value) else value


def _is_descriptor(members: Mapping[str, Any]) -> bool:
    # An inline result may say `"offloaded": false`, and may also have the other members of a descriptor with the value
    # null, for example if the server was written in a typed language. Such a result is not a descriptor.
    if members.get("offloaded") not in (None, False):
        return True
    line_schema, recipes = members.get("line_schema"), members.get("jq_recipes")
    described = line_schema is not None or recipes is not None or isinstance(members.get("summary"), dict)
    return members.get("file_path") is not None and described


def _dump(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply to be shown)"
