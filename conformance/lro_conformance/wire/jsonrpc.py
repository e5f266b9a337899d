"""JSON-RPC 2.0 lines, which are written strictly and read leniently.

Reading a line never raises an error. The problems of the line are reported, and everything that can still be understood
is returned, so that one mistake of a server does not affect everything after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from lro_spec.jsonl.parse import read_leniently
from lro_spec.jsonl.strict import MAX_LEVELS, too_deep

Problem = tuple[str, str]
"""A problem of a line: its kind, which is a key of `KINDS`, and the details in words."""

KINDS: Mapping[str, str] = {
    "blank": "an empty line",
    "not-json": "a line that is not JSON",
    "too-deep": "JSON nested too deeply to be read",
    "invalid-utf8": "bytes that are not UTF-8",
    "bom": "a byte order mark",
    "constant": "NaN or Infinity, which JSON does not have",
    "not-an-object": "JSON that is neither an object nor a batch",
    "batch": "a batch, which MCP no longer supports",
    "not-a-message": "an object that is not a request, notification or response",
    "jsonrpc-version": 'a message without "jsonrpc": "2.0"',
    "unknown-id": "a response to a request that was never made",
    "duplicate-id": "a second response to one request",
    "late": "a response after its time limit",
    "id-type": "a response whose id is not of the type that the request had",
    "null-id": "a response whose id is null or missing",
    "result-and-error": "a response with both result and error",
    "error-shape": "an error without an integer code and a string message",
    "server-request": "a request to the client that was refused",
    "too-large": "a line over the size limit",
    "unterminated": "a last line without a newline",
    "stdin-closed": "the server no longer reads its stdin",
    "stdout-closed": "the server closed its stdout but keeps running",
    "paging": "a list whose pages do not end",
    "list-entry": "an entry of a list that is not an object",
}
"""All kinds of problems of a server's output and pipes, each with its description in reports."""

METHOD_NOT_FOUND = -32601

Kind = Literal["request", "notification", "response", "batch", "other", "unreadable", "blank"]
"""The kinds of lines and of entries of batches. ``other`` is JSON, but not a message. ``unreadable`` is text that is
not JSON, or JSON that is nested too deeply."""

MAX_BATCH = 1000
"""Maximum number of entries of a batch that are read."""


@dataclass(frozen=True, slots=True)
class Message:
    """One line, or one entry of a batch, read leniently."""

    kind: Kind
    id: int | None
    """The id as a number; None if the id is not a number. The id of a response may also be a string of digits.

    For an unreadable line, this is the number in the place where servers usually write the id.
    """
    value: Any
    """The JSON value; None if the line is unreadable or blank."""
    problems: tuple[Problem, ...] = ()
    entries: tuple[Message, ...] = ()
    """The messages of a batch."""

    @property
    def fields(self) -> dict[str, Any]:
        """The members of the message; empty if it is not an object."""
        value: object = self.value
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as one line, without the newline.

    Raises `ValueError` for NaN and infinities, and `TypeError` for values whose type does not exist in JSON.
    """
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape sequence
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()


def request(id: int, method: str, params: Mapping[str, Any] | None) -> bytes:
    """Return a request as one line. If *params* are None, the request has no ``params``."""
    return encode({"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": params}))


def notification(method: str, params: Mapping[str, Any] | None) -> bytes:
    """Return a notification as one line. If *params* are None, the notification has no ``params``."""
    return encode({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))


def parse(line: bytes) -> Message:
    """Read a line leniently. The problems of the line are in the result."""
    problems: list[Problem] = []
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        problems.append(("invalid-utf8", f"byte {line[bad.start]:#04x} at offset {bad.start}: {bad.reason}"))
        text = line.decode(errors="replace")
    if text.startswith("\ufeff"):
        problems.append(("bom", "the line begins with a byte order mark"))
        text = text[1:]
    if not text or text.isspace():
        return Message("blank", None, None, (*problems, ("blank", "an empty line is not a message")))
    try:
        value, constants = _value(text)
    except RecursionError:
        return _unreadable(line, problems, ("too-deep", "nested too deeply to be read"))
    except ValueError as bad:  # raised for an integer with more digits than Python reads, too
        return _unreadable(line, problems, ("not-json", f"{bad}: {excerpt(line)}"))
    if text.count("{") + text.count("[") > MAX_LEVELS and too_deep(value):
        return _unreadable(line, problems, ("too-deep", f"nested deeper than {MAX_LEVELS} levels"))
    if constants:
        problems.append(("constant", f"{constants[0]} is not JSON ({len(constants)} in this line)"))
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        problems.append(("batch", f"an array of {len(entries)}: {excerpt(line)}"))
        messages = tuple(_message(e, line, []) for e in entries[:MAX_BATCH] if isinstance(e, dict))
        return Message("batch", None, entries, tuple(problems), messages)
    return _message(value, line, problems)


def _unreadable(line: bytes, problems: list[Problem], last: Problem) -> Message:
    return Message("unreadable", guess_id(line[:4096], line[-4096:]), None, (*problems, last))


def _message(value: Any, line: bytes, problems: list[Problem]) -> Message:
    """Return the message in a JSON value. *line* is quoted in the problems of the message."""
    if not isinstance(value, dict):
        return Message("other", None, value, (*problems, ("not-an-object", excerpt(line))))
    fields = cast("dict[str, Any]", value)
    kind = _kind(fields)
    id: Any = fields.get("id")
    number = int(id) if isinstance(id, int | float) and not isinstance(id, bool) and id == id // 1 else None
    if kind == "other":
        return Message(kind, number, value, (*problems, ("not-a-message", excerpt(line))))
    if fields.get("jsonrpc") != "2.0":
        problems.append(("jsonrpc-version", f"jsonrpc is {excerpt(fields.get('jsonrpc'))}"))
    if kind == "response":
        problems += _response_problems(fields)
        if id is None:
            problems.append(("null-id", excerpt(line)))
        elif isinstance(id, str) and id.isascii() and id.isdigit() and len(id) < 16:
            number = int(id)
            problems.append(("id-type", f"the request had {number}, its response has {excerpt(id)}"))
    return Message(kind, number, value, tuple(problems))


def _value(text: str) -> tuple[Any, list[str]]:
    """Return a JSON value, and the constants in it that JSON does not have, such as NaN.

    Raises `ValueError` if the text is not JSON, and `RecursionError` if it is nested too deeply.
    """
    if "NaN" not in text and "Infinity" not in text:
        return read_leniently(text), []
    constants: list[str] = []

    def constant(name: str) -> float:
        constants.append(name)
        return float(name)

    return json.loads(text, parse_constant=constant), constants


def _kind(fields: Mapping[str, Any]) -> Kind:
    """Return the kind of a message by the members of the object."""
    if isinstance(fields.get("method"), str):
        return "request" if "id" in fields else "notification"
    return "response" if "result" in fields or "error" in fields else "other"


def _response_problems(fields: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of a response, except for problems of its id."""
    problems: list[Problem] = []
    if "result" in fields and "error" in fields:
        problems.append(("result-and-error", "a response has either a result or an error"))
    if "error" in fields:
        error: Any = fields["error"]
        members: dict[str, Any] = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        code: Any = members.get("code")
        if not isinstance(code, int) or isinstance(code, bool) or not isinstance(members.get("message"), str):
            problems.append(("error-shape", f"not an integer code and a string message: {excerpt(fields['error'])}"))
    return problems


_HEAD_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*"?(\d{1,15})"?\s*,')
_HEAD_METHOD = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"')
_TAIL_ID = re.compile(rb',\s*(?:"id"\s*:\s*"?(\d{1,15})"?\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?)\}\s*\Z')


def guess_id(head: bytes, tail: bytes = b"") -> int | None:
    """Return the id of a response that cannot be parsed. It is read from the first or the last bytes of the response,
    where servers usually put the id. Returns None if there is no id in these places."""
    match = _HEAD_ID.match(head) or _TAIL_ID.search(tail)
    return int(match[1]) if match else None


def names_method(head: bytes) -> bool:
    """True if an incomplete message begins with its method. Such a message is not a response."""
    return _HEAD_METHOD.match(head) is not None


def excerpt(value: object, limit: int = 200) -> str:
    """Return the beginning of received data, in a printable form that can be quoted in a sentence."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else repr(value)
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: limit + 1])
    return text if len(text) <= limit else text[:limit] + "…"
