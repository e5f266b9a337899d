"""`context_offload` and `read_file`: compaction of a conversation, and reloading of offloaded messages."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen, see_file
from lro_conformance.capture.records import as_record
from lro_conformance.lab.operations import Operation, properties_of, required_of
from lro_conformance.lab.settings import Settings
from lro_conformance.trials import trial
from lro_conformance.trials.extensions.extraction import MARK
from lro_conformance.trials.extensions.families import FileToolCall
from lro_conformance.trials.survey import Survey

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

OFFLOAD, RELOAD = "context_offload", "read_file"
LARGE_TEXT = "".join(f"row {n}: {'日本語 𝄞' if n % 7 else 'lro probe'}\r\n" for n in range(700)) + " the end \n"
"""A large result of a tool: letters beyond ASCII, line ends of two kinds, and blanks at its end."""
_PATH = re.compile(r"/[^\s()\"']+\.\w+")
"""An absolute path in the text that takes the place of an offloaded message."""


def conversation(id: str = "call_1", text: str = LARGE_TEXT) -> list[dict[str, Any]]:
    """A conversation of seven messages. The fourth is a large and old result of a tool; the last is large, but new."""
    calling = {"role": "assistant", "content": "", "tool_calls": [{"id": id, "name": "find", "arguments": {"n": 1}}]}
    return [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Find the rows."},
        calling,
        {"role": "tool", "tool_call_id": id, "content": text},
        {"role": "tool", "tool_call_id": "call_2", "content": "a small result"},
        {"role": "user", "content": "word " * 900},
        {"role": "tool", "tool_call_id": "call_3", "content": "a new result " * 400},
    ]


@dataclass(frozen=True)
class Compaction:
    """Compaction of one conversation, and attempts to make the server write and read files elsewhere."""

    done: FileToolCall
    """The call that compacts the conversation, in mode ``compact`` if the tool has modes."""
    messages: Sequence[Any]
    """The compacted messages; empty if none were returned."""
    stored: FileSeen | None
    """The file that is named by the message in the place of the large message; None if no file is named."""
    reload: FileToolCall | None
    """The answer of `read_file` for that file; None if the server lists no such tool, or no file was named."""
    foreign: tuple[FileToolCall, ...]
    """Answers of `read_file` for files that are not offloaded messages."""
    escaping: tuple[tuple[FileToolCall, str], ...]
    """Calls with ids of tool calls that point elsewhere, each with the file that appeared there, or an empty path."""
    elsewhere: tuple[tuple[FileToolCall, str], ...] | None = None
    """Calls that name a folder of the client, each with the file that appeared there, or an empty path. Empty if the
    tool takes no folder; None in evidence of an earlier version, which made no such calls."""
    within: FileToolCall | None = None
    """A call with a max_total_tokens that the conversation does not reach; None if the tool has no such argument."""
    summarised: tuple[FileToolCall, ...] = ()
    """Calls in the modes that may summarise, ``compress`` and ``auto``; empty if the tool has no modes."""
    lines: FileToolCall | None = None
    """A call of `read_file` for the second and the third line of the stored file. None if `read_file` is not listed, if
    it takes no offset and limit, or if no file was named."""


def _tools(survey: Survey) -> dict[str, Mapping[str, Any]]:
    """The listed tools by their documented names: `context_offload`, and `read_file` if it has the same prefix.

    Empty if there is no `context_offload`.
    """
    found: dict[str, Mapping[str, Any]] = {}
    named = {str(one.get("name")): one for one in survey.tools}
    for name, one in named.items():
        if name.endswith(OFFLOAD) and "messages" in properties_of(one):
            found[OFFLOAD] = one
            other = named.get(name.removesuffix(OFFLOAD) + RELOAD, {})
            if "absolute_path" in properties_of(other):
                found[RELOAD] = other
            return found
    return found


def _lists_none(survey: Survey) -> str | None:
    return None if _tools(survey) else "the server lists no context_offload"


@trial("compaction of conversations", reason_not_listed=_lists_none)
def compaction(lab: Lab, survey: Survey) -> Compaction:
    """Compact a conversation, reload the offloaded message, and try to make the server write and read elsewhere."""
    tools = _tools(survey)
    with lab.bench(Settings(threshold_tokens=1 if survey.adjustable else None)) as first:
        operations = {
            n: Operation(n, str(one["name"]), {}, None, None, None, None, (), None) for n, one in tools.items()
        }
        bench = replace(first, operations=operations)
        properties = properties_of(tools[OFFLOAD])
        required_folder = (
            {"store_dir": str(bench.output_dir or bench.temp)} if "store_dir" in required_of(tools[OFFLOAD]) else {}
        )
        done = _offload(bench, properties, "a conversation", conversation(), required_folder)
        messages = messages_of(done.call)
        path = _path_in(messages)
        stored = None if path is None else see_file(path, bench.roots)
        reload = None
        foreign: list[FileToolCall] = []
        if RELOAD in tools and path is not None:
            reload = _ask(bench, RELOAD, "the offloaded message", {"absolute_path": path})
            for about, wrong in _planted(bench, path):
                foreign.append(_ask(bench, RELOAD, about, {"absolute_path": wrong}))
        lines = None
        if RELOAD in tools and path is not None and {"offset", "limit"} <= set(properties_of(tools[RELOAD])):
            asked = {"absolute_path": path, "offset": 1, "limit": 2}
            lines = _ask(bench, RELOAD, "the second and the third line", asked)
        within = None
        if "max_total_tokens" in properties:
            more = {**required_folder, "max_total_tokens": 1_000_000}
            within = _offload(bench, properties, "a conversation below max_total_tokens", conversation(), more)
        modes = ("compress", "auto") if "context_manage_mode" in properties else ()
        summarised = tuple(
            _offload(
                bench, properties, f"mode {mode}", conversation(), {**required_folder, "context_manage_mode": mode}
            )
            for mode in modes
        )
        tries = [("an id with ..", "/../../../lroprobe", required_folder)]
        escaping = tuple(_escapes(bench, properties, tries))
        folder = {"store_dir": str(bench.workdir / "elsewhere")}
        tries = [("a folder elsewhere", "call_9", folder)] if "store_dir" in properties else []
        elsewhere = tuple(_escapes(bench, properties, tries))
    return Compaction(done, messages, stored, reload, tuple(foreign), escaping, elsewhere, within, summarised, lines)


def _ask(bench: Bench, name: str, about: str, arguments: Mapping[str, Any]) -> FileToolCall:
    return FileToolCall(name, about, bench.calls([{"name": name, "arguments": dict(arguments)}])[0])


def _offload(
    bench: Bench, properties: Mapping[str, Any], about: str, messages: Sequence[Any], more: Mapping[str, Any]
) -> FileToolCall:
    options = {"context_manage_mode": "compact", "max_total_tokens": 1000, "max_tool_message_tokens": 500}
    options = {k: v for k, v in {**options, "keep_recent_count": 1}.items() if k in properties}
    return _ask(bench, OFFLOAD, about, {"messages": messages, **options, **more})


def messages_of(call: Call) -> Sequence[Any]:
    """The messages in an answer of `context_offload`; empty if there are none."""
    try:
        answer = as_record(json.loads(call.text))
    except ValueError:
        answer = {}
    found: Any = answer.get("messages") or as_record((call.result or {}).get("structuredContent")).get("messages")
    return cast("list[Any]", found) if isinstance(found, list) else ()


def _path_in(messages: Sequence[Any]) -> str | None:
    content = as_record(messages[3]).get("content") if len(messages) > 3 else None
    found = _PATH.findall(content) if isinstance(content, str) else []
    return found[-1] if found else None


def _planted(bench: Bench, path: str) -> list[tuple[str, str]]:
    """Plant files that `read_file` must not read: a file elsewhere and, if the folder of the message stored at
    *path* belongs to the suite, a file next to that message. Returns paths that lead to these files, each after a
    description."""
    secret = bench.workdir / "secret.txt"
    secret.write_text(MARK, encoding="utf-8")
    found = [("a file elsewhere", str(secret))]
    folder = Path(path).parent
    if folder.is_relative_to(bench.workdir) and folder.is_dir():
        (folder / "tool_call_lroprobe.txt").write_text(MARK, encoding="utf-8")
        found.append(("a file of another process", str(folder / "tool_call_lroprobe.txt")))
        found.append(("a path with ..", os.path.join(folder, os.path.relpath(secret, folder))))
    return found


def _escapes(
    bench: Bench, properties: Mapping[str, Any], tries: Sequence[tuple[str, str, Mapping[str, Any]]]
) -> Iterator[tuple[FileToolCall, str]]:
    """Make a call for each of *tries*: a description, the id of the tool call, and further arguments.

    Yields each call with the path at which its text appeared outside the server's folders. The path is empty if the
    text did not appear there.
    """
    for about, id, more in tries:
        mark = f"lro-probe-escape-{id.rpartition('/')[2]}"
        asked = _offload(bench, properties, about, conversation(id, f"{mark} {LARGE_TEXT}"), more)
        yield asked, _escaped(bench, mark)


def _escaped(bench: Bench, mark: str) -> str:
    """The path of a file that begins with the *mark*, below the private folder of the server process, but outside its
    output folder and its temporary folder. Empty if there is no such file."""
    allowed = [bench.temp, *([bench.output_dir] if bench.output_dir is not None else [])]
    for path in sorted(bench.workdir.rglob("*")):
        if path.is_file() and not any(path.is_relative_to(folder) for folder in allowed):
            with path.open("rb") as file:
                if file.read(100).startswith(mark.encode()):
                    return str(path)
    return ""
