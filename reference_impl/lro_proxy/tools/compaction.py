"""The family `compaction`: `context_offload` shortens a conversation; `grep` and `read_file` read the stored parts.

Removed parts are stored in a private folder of this process within the output folder. A caller cannot choose another
folder, and can only read files that this process has stored there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Any, BinaryIO

from lro_proxy.tools.access import OffloadedFile
from lro_proxy.tools.base import FamilyTool, Workbench, schema
from lro_proxy.tools.conversation import ShorteningOptions, shorten, tokens_of
from lro_proxy.tools.limits import Refused, TooLarge, joined
from lro_proxy.tools.search import matching_lines
from lro_proxy.tools.virtual import NO_MATCHES, characters
from lro_reference.tool import Tool, abbreviate
from lro_spec.filenames import ulid_at
from lro_spec.jsonl import lossless

_MAX_FILES = 100
_MAX_LINE_LENGTH = 300


# --- context_offload


def offload(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """The shortened conversation and the sizes of the stored files, as JSON.

    Raises `Refused`. In that case, nothing was stored.
    """
    folder = bench.context.folder
    _check_folder(folder, arguments.get("store_dir", folder))
    options = {key: value for key, value in arguments.items() if key not in ("messages", "store_dir")}
    options["mode"] = options.pop("context_manage_mode", "auto")
    chat_id = options.pop("chat_id", "") or ulid_at(datetime.now(UTC))
    messages = arguments["messages"]
    shortened = shorten(messages, ShorteningOptions(folder, chat_id, **options), bench.ask, bench.context.digests)
    bench.context.store(shortened.write_file_dict)
    sizes = {path: len(text) for path, text in shortened.write_file_dict.items()}
    before, after = tokens_of(messages), tokens_of(shortened.messages)
    report = f"files written: {len(sizes)}; tokens left: {after} of {before}" if sizes else "nothing was written"
    answer: dict[str, Any] = {
        "success": True,
        "answer": f"{report}; {shortened.note}" if shortened.note else report,
        "messages": shortened.messages,
        "metadata": {"write_file_dict": sizes, "tokens_before": before, "tokens_after": after},
    }
    return lossless.dump_with_layout(answer)


def _check_folder(folder: str, requested: str) -> None:
    if "\0" in requested or os.path.realpath(requested) != os.path.realpath(folder):
        raise Refused(f"{abbreviate(requested)} is refused: this server stores only in {folder}; leave store_dir out")


# --- reading stored parts


def grep(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """The matching lines of stored files, grouped by file. Raises `Refused`."""
    pattern, glob, limit = arguments["pattern"], arguments.get("glob", "*"), arguments.get("limit", 100)
    path = arguments.get("path", bench.context.folder)
    with ExitStack() as stack:
        if "\0" in path or os.path.realpath(path) != os.path.realpath(bench.context.folder):
            opened, left_out = [stack.enter_context(bench.context.open(path))], ""
        else:
            opened, left_out = _open_matching(bench, glob, stack)
        matches, has_more = (
            matching_lines(bench, [file for _, file in opened], pattern, case_sensitive=True, max_matches=limit)
            if opened
            else ([], False)
        )
        if not matches:
            return NO_MATCHES + left_out
        count = f"more than {len(matches)}" if has_more else len(matches)
        limit_note = f", the first {len(matches)} of which follow" * has_more
        heading = f"Found {count} match{'es' * (len(matches) != 1)} in {path} ({glob}){limit_note}:{left_out}"
        pieces = _matching_lines([(offloaded.name, file) for offloaded, file in opened], set(matches))
        try:
            return joined(chain([heading.encode()], pieces), bench.limits.output_characters)
        except TooLarge as problem:
            raise Refused(f"{problem}: use a lower limit, or choose files by glob") from None


def _open_matching(
    bench: Workbench, glob: str, stack: ExitStack
) -> tuple[list[tuple[OffloadedFile[None], BinaryIO]], str]:
    """Open the files whose names match. Also returns a note on the files that can no longer be read.

    Raises `Refused` if there are too many files.
    """
    names = [name for name in bench.context.names() if fnmatchcase(name, glob)]
    if len(names) > _MAX_FILES:
        raise Refused(f"{len(names)} files are too many to search at once: choose up to {_MAX_FILES} by glob")
    opened: list[tuple[OffloadedFile[None], BinaryIO]] = []
    left_out = ""
    for name in names:
        try:
            opened.append(stack.enter_context(bench.context.open(name)))
        except Refused as problem:
            left_out += f"\n(left out: {problem})"
    return opened, left_out


def _matching_lines(files: list[tuple[str, BinaryIO]], matches: set[int]) -> Iterator[bytes]:
    """The matching lines, below the names of their files. The line numbers in *matches* continue from file to file."""
    number = 0
    for name, file in files:
        file.seek(0)
        has_heading = False
        for line_number, line in enumerate(file, 1):
            number += 1
            if number in matches:
                if not has_heading:
                    yield b"---\nFile: " + name.encode()
                    has_heading = True
                yield b"L%d: " % line_number + _shortened(line.rstrip(b"\r\n").decode("utf-8", "replace")).encode()


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]}… ({len(line)} characters)"


def read_file(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """Some lines or a range of characters of a stored file. Raises `Refused`."""
    by_line, by_character = {"offset", "limit"} & set(arguments), {"start", "end"} & set(arguments)
    if by_line and by_character:
        raise Refused("give either offset and limit (lines) or start and end (characters)")
    max_characters = bench.limits.output_characters
    with bench.context.open(arguments["absolute_path"]) as (offloaded, file):
        if not by_line:
            start = arguments.get("start", 0)
            return characters(
                file,
                offloaded.name,
                start,
                arguments.get("end", max(start, os.fstat(file.fileno()).st_size)),
                max_characters,
            )
        offset, limit = arguments.get("offset", 0), arguments.get("limit")
        lines = islice(file, offset, None if limit is None else offset + limit)
        try:
            return joined((line.removesuffix(b"\n") for line in lines), max_characters)
        except TooLarge as problem:
            raise Refused(
                f"{problem}; the first {problem.fitting} lines fit: request fewer lines (limit), or a range of "
                "characters (start, end)"
            ) from None


# --- the tools


def _count_schema(description: str, minimum: int = 0) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "maximum": 2**31, "description": description}


def _text_schema(description: str) -> dict[str, Any]:
    return {"type": "string", "maxLength": 1000, "description": description}


COMPACTION = (
    FamilyTool(
        Tool(
            "context_offload",
            "Shortens a conversation: large tool results move to files, and a summary replaces older messages. "
            "Returns the messages to continue with.",
            schema(
                ("messages",),
                messages={
                    "type": "array",
                    "items": {"type": "object"},
                    "description": "The conversation: messages with role and content, results with tool_call_id.",
                },
                context_manage_mode={
                    "type": "string",
                    "enum": ["compact", "compress", "auto"],
                    "description": "compact: large tool results move to files; compress: a summary by the client's "
                    "language model replaces older messages; auto (default): compact, and compress if still too large.",
                },
                max_total_tokens=_count_schema("Largest conversation that is left unchanged (default 20000)."),
                max_tool_message_tokens=_count_schema(
                    "Largest tool result that stays in the conversation (default 2000)."
                ),
                group_token_threshold=_count_schema(
                    "Minimum size of the groups to summarise (default 0: all as one group)."
                ),
                keep_recent_count=_count_schema("Number of last messages to keep (default: compact 1, compress 2)."),
                store_dir=_text_schema("Leave it out: the server stores only in a folder of its own."),
                chat_id=_text_schema("Part of the names of files with summarised messages."),
                preview_char_length=_count_schema("Characters of a moved result that stay as a preview (default 100)."),
                compact_ratio_threshold={
                    "type": "number",
                    "minimum": 0,
                    "maximum": 1,
                    "description": "auto: compress, too, if compacting leaves more than this share (default 0.75).",
                },
            ),
            reads_only=False,
        ),
        offload,
        reads_results=False,
    ),
    FamilyTool(
        Tool(
            "grep",
            "Searches the texts that context_offload has moved out of conversations, by a regular expression.",
            schema(
                ("pattern",),
                pattern={"type": "string", "description": "A regular expression."},
                path=_text_schema("One file (default: all files)."),
                glob=_text_schema("Only files whose names match, such as *.json."),
                limit=_count_schema("Maximum number of lines (default 100).", 1),
            ),
        ),
        grep,
        reads_results=False,
    ),
    FamilyTool(
        Tool(
            "read_file",
            "Reads a text that context_offload has moved out of a conversation: all of it, some lines or characters.",
            schema(
                ("absolute_path",),
                absolute_path=_text_schema("The path in the message."),
                offset=_count_schema("Number of lines to skip."),
                limit=_count_schema("Maximum number of lines.", 1),
                start=_count_schema("First character, from 0."),
                end=_count_schema("End of the range of characters (exclusive)."),
            ),
        ),
        read_file,
        reads_results=False,
    ),
)
"""The tools of the family."""
