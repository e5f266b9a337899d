"""Edits of a configuration. Each edit replaces one part of the text, and can be undone byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

from lro_proxy.install.document import Document, Place


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of a part of the text."""

    server: str
    part: str
    """The member whose value is replaced: ``command`` or ``args``. It is empty if a whole server is inserted."""
    old: str
    new: str
    lead: int = 0
    """Length of the inserted text before the server's name."""
    value: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The members of the server's entry that the edit has set."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The edited text, its edits, and the outcome for each server."""

    text: str
    edits: tuple[Edit, ...]
    outcomes: Mapping[str, str]
    changed_since: tuple[str, ...] = ()
    """Servers whose edits could not be undone, because their entries have been changed or removed since."""


def wrap(document: Document, servers: Sequence[str], proxy: Sequence[str]) -> Edited:
    """Put the *proxy*, a command that ends in ``--``, before the command of each of *servers* (if empty: of all).

    Raises `ValueError` if the edited text would not have exactly the intended value.
    """
    outcomes: dict[str, str] = {}
    spans: list[tuple[int, int, Edit]] = []
    expected = deepcopy(document.value)
    for name, entry in document.servers.items():
        if servers and name not in servers:
            continue
        outcomes[name] = _obstacle(entry) or ""
        place = document.find(name)
        if not outcomes[name] and (place is None or "command" not in place.value_spans):
            outcomes[name] = "left as it is: it is written in a form that is not edited"
        if not outcomes[name] and place is not None:
            spans += [(start, stop, edit) for start, stop, edit in _wrapping_edits(document, name, proxy)]
            words = [*proxy, entry["command"], *entry.get("args", [])]
            expected[document.section][name] |= {"command": words[0], "args": words[1:]}
            outcomes[name] = "now behind lro proxy"
    return _apply(document, spans, expected, outcomes)


def add(document: Document, server: str, entry: Mapping[str, Any]) -> Edited:
    """Insert a server. Raises `ValueError` if the edited text would not have exactly the intended value."""
    start, text = document.insertion(server, entry)
    expected = deepcopy(document.value)
    expected.setdefault(document.section, {})[server] = dict(entry)
    new_document = type(document)(document.text[:start] + text + document.text[start:], document.section)
    place = new_document.find(server)
    if place is None:
        raise ValueError(f"{server} cannot be inserted")
    edit = Edit(server, "", "", text, place.start - start, entry)
    return _apply(document, [(start, start, edit)], expected, {server: "added behind lro proxy"})


def undo(document: Document, edits: Sequence[Edit]) -> Edited:
    """Undo these edits, beginning with the last edit. A server is left as it is if it was changed or removed since."""
    outcomes: dict[str, str] = {}
    changed_since: list[str] = []
    for server in dict.fromkeys(edit.server for edit in reversed(edits)):
        undone: Document | None = document
        for edit in reversed([other for other in edits if other.server == server]):
            undone = None if undone is None else _undo(undone, edit)
            outcomes[server] = "as it was before" if edit.part else "removed"
        if undone is None:
            outcomes[server] = "left as it is: it was changed or removed since"
            changed_since.append(server)
        else:
            document = undone
    return Edited(document.text, (), outcomes, tuple(changed_since))


def _undo(document: Document, edit: Edit) -> Document | None:
    """The document without an edit.

    Returns None if the entry no longer has the values that the edit wrote, or if it has them in a different layout in
    which they cannot be replaced.
    """
    place = document.find(edit.server)
    if place is None or (edit.part and edit.part not in place.value_spans):
        return None
    start = place.value_spans[edit.part][0] if edit.part else place.start - edit.lead
    stop = start + len(edit.new)
    if start < 0 or not document.text.startswith(edit.new, start):
        span = _rewritten_span(document, edit, place)
        if span is None:
            return None
        start, stop = span
    return type(document)(document.text[:start] + edit.old + document.text[stop:], document.section)


def _rewritten_span(document: Document, edit: Edit, place: Place) -> tuple[int, int] | None:
    """The range of the text to replace if the client has written the edit's values again, in another layout.

    Returns None if the values are different, or if the range is unknown.
    """
    entry = document.servers[edit.server]
    if any(entry.get(key) != part for key, part in edit.value.items()) or not edit.value:
        return None
    if not edit.part:
        return document.span_to_remove(edit.server) if entry == edit.value else None
    start, stop = place.value_spans[edit.part]
    if len(edit.value) == 1:
        return start, stop
    args_span = place.value_spans["args"]  # the edit has added the args after the command
    between = document.text[stop : args_span[0]]
    return (start, args_span[1]) if re.fullmatch(r'\s*,\s*"args"\s*:\s*', between) else None


def is_proxy(words: Sequence[object]) -> bool:
    """True for a command that starts lro proxy."""
    texts = [word for word in words if isinstance(word, str)]
    own_words = texts[: texts.index("--")] if "--" in texts else texts
    for previous, word in pairwise(own_words):
        program = re.split(r"[\\/]", previous)[-1]
        # also `-m lro_… proxy` and `uvx lro-spec proxy`
        if word == "proxy" and re.fullmatch(r"lro(\.exe|_\w+|-spec([@=].*)?)?", program):
            return True
        if (previous, word) == ("-m", "lro_proxy"):
            return True
    return False


def _obstacle(entry: object) -> str | None:
    """The reason why an entry is left unchanged, or None if it can be edited."""
    members = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    command, arguments = members.get("command"), members.get("args", [])
    if "url" in members or "serverUrl" in members:
        return "left as it is: it is reached over HTTP (see lro proxy --url)"
    if not isinstance(command, str):
        return "left as it is: it has no command"
    words = [command, *cast("list[Any]", arguments)] if isinstance(arguments, list) else [None]
    if not all(isinstance(word, str) for word in words):
        return "left as it is: its args are not a list of strings"
    return "already behind lro proxy" if is_proxy(words) else None


def _wrapping_edits(document: Document, name: str, proxy: Sequence[str]) -> Iterator[tuple[int, int, Edit]]:
    """The edits that put the proxy before a server's command, each with the range of the text that it replaces."""
    entry, place = document.servers[name], document.find(name)
    assert place is not None
    start, stop = place.value_spans["command"]
    program, arguments = _quoted(proxy[0]), [*proxy[1:], entry["command"]]
    if "args" in place.value_spans:
        begin, end = place.value_spans["args"]
        old = document.text[begin:end]
        new = _prepended(old, arguments, is_empty=not entry["args"])
        yield begin, end, Edit(name, "args", old, new, value={"args": [*arguments, *entry["args"]]})
        value: dict[str, Any] = {"command": proxy[0]}
    else:
        program += document.args_text(f"[{', '.join(map(_quoted, arguments))}]", place)
        value = {"command": proxy[0], "args": arguments}
    yield start, stop, Edit(name, "command", document.text[start:stop], program, value=value)


def _prepended(array: str, words: Sequence[str], *, is_empty: bool) -> str:
    """The text of an array with *words* inserted before its items. The layout of the array is kept."""
    inner = array[1:]
    lead = inner[: len(inner) - len(inner.lstrip())]
    if is_empty:
        return f"[{', '.join(map(_quoted, words))}]"
    return "[" + "".join(f"{lead}{_quoted(word)},{'' if lead else ' '}" for word in words) + inner


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _apply(
    document: Document, spans: list[tuple[int, int, Edit]], expected: Mapping[str, Any], outcomes: Mapping[str, str]
) -> Edited:
    text = document.text
    for start, stop, edit in sorted(spans, key=lambda span: span[0], reverse=True):
        text = text[:start] + edit.new + text[stop:]
    if type(document).load(text) != expected:
        raise ValueError("it is written in a form that cannot be edited safely")
    return Edited(text, tuple(edit for _, _, edit in spans), outcomes)
