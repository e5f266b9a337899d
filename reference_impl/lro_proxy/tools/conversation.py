"""Shortening of conversations: large tool messages move to files, and a summary replaces older messages.

Moving messages to files is called compacting, and summarising them is called compressing. Nothing is written here: the
texts to store are returned along with the messages, by the paths that the messages refer to.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, cast

from lro_proxy.tools.limits import Refused
from lro_spec.jsonl import lossless
from lro_spec.tokens import script_aware_estimate

Message = dict[str, Any]
"""A chat message: ``role``, ``content`` (a text, blocks, or nothing), and possibly other members."""
Summarise = Callable[[str], str]
"""Summarises messages, which are passed as JSON. Raises `Refused`."""
Mode = Literal["compact", "compress", "auto"]
_SYSTEM_ROLES = ("system", "developer")
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
_TAGS = re.compile(r"</?state_snapshot>")


@dataclass(frozen=True, slots=True)
class ShorteningOptions:
    """Options of shortening; sizes in estimated tokens."""

    store_dir: str
    """The folder that messages refer to."""
    chat_id: str
    """Part of the names of the files with summarised messages."""
    mode: Mode = "auto"
    max_total_tokens: int = 20_000
    """Largest conversation that is left unchanged."""
    max_tool_message_tokens: int = 2_000
    """Largest tool message that stays in the conversation."""
    group_token_threshold: int = 0
    """Minimum size of the groups that are summarised. If it is 0, all messages are one group."""
    keep_recent_count: int | None = None
    """Number of last messages that stay unchanged; None: 1 when compacting, 2 when compressing."""
    preview_char_length: int = 100
    compact_ratio_threshold: float = 0.75
    """In mode auto, messages are also compressed if compacting leaves more than this share of the tokens."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """A shortened conversation."""

    messages: list[Message]
    write_file_dict: dict[str, str] = field(default_factory=dict[str, str])
    """Texts that were removed from the messages, by the path that the messages refer to."""
    note: str = ""
    """Reason why the conversation was not shortened further, if there is one."""


def shorten(
    messages: Sequence[Message],
    options: ShorteningOptions,
    summarise: Summarise | None = None,
    digests: dict[str, str] | None = None,
) -> Shortened:
    """Compact a conversation, compress it, or (mode auto) compact it and, if that is not enough, also compress it.

    *digests* maps the names in use in the folder to digests of their texts. New names are added to it, and a name is
    reused for the same text only. Raises `Refused` if the conversation is invalid, or if no summary can be made in mode
    compress.
    """
    checked = [_checked(message, place) for place, message in enumerate(messages)]
    before = tokens_of(checked)
    if before <= options.max_total_tokens:
        return Shortened(checked, note=f"{before} tokens are within max_total_tokens: nothing was done")
    known_digests = {} if digests is None else digests
    if options.mode == "compress":
        return _compressed(checked, options, summarise, known_digests)
    compacted = _compacted(checked, options, known_digests)
    share_left = tokens_of(compacted.messages) / before
    if options.mode == "compact" or share_left <= options.compact_ratio_threshold:
        return compacted
    try:
        further = _compressed(compacted.messages, options, summarise, known_digests)
    except Refused as problem:  # the compacted conversation is still an improvement
        return replace(
            compacted, note=f"compacting left {share_left:.0%} of the tokens, and compressing failed: {problem}"
        )
    return replace(further, write_file_dict=compacted.write_file_dict | further.write_file_dict)


def tokens_of(messages: Sequence[Message]) -> int:
    """Estimated tokens of messages: their contents and tool calls."""
    return sum(script_aware_estimate(_text(m.get("content")) + _text(m.get("tool_calls"))) for m in messages)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _checked(message: Message, place: int) -> Message:
    where = f"messages[{place}]"
    if not isinstance(message.get("role"), str):
        raise Refused(f"{where} needs a role, which is a text such as user, assistant, tool or system")
    if not isinstance(message.get("content"), (str, list, dict, type(None))):
        raise Refused(f"{where}: content must be a text, blocks, or null")
    if not isinstance(message.get("tool_call_id", ""), str):
        raise Refused(f"{where}: tool_call_id must be a text")
    try:
        lossless.dump_with_layout(message).encode()
    except (ValueError, RecursionError) as problem:
        raise Refused(f"{where} cannot be written as JSON in UTF-8: {str(problem)[:120]}") from None
    return message


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return lossless.dump_with_layout(value)


# --- compact


def _compacted(messages: list[Message], options: ShorteningOptions, digests: dict[str, str]) -> Shortened:
    keep_count = 1 if options.keep_recent_count is None else options.keep_recent_count
    older = len(messages) - keep_count
    files: dict[str, str] = {}
    compacted = [
        _reference(message, options, digests, files) if place < older and message["role"] == "tool" else message
        for place, message in enumerate(messages)
    ]
    return Shortened(compacted, files)


def _reference(message: Message, options: ShorteningOptions, digests: dict[str, str], files: dict[str, str]) -> Message:
    """A tool message reduced to a preview and a path; unchanged if it is small, or would not become smaller."""
    text = _text(message.get("content"))
    tokens = script_aware_estimate(text)
    if tokens <= options.max_tool_message_tokens:
        return message
    digest = _digest(text)
    id = _id_in_name(message.get("tool_call_id", ""))
    names = (f"tool_call_{id or digest[:32]}.txt", f"tool_call_{id}_{digest[:32]}.txt")
    path = os.path.join(options.store_dir, _free_name(names, digest, digests))
    content = f"{text[: options.preview_char_length]}… (detailed result is stored in {path})"
    if script_aware_estimate(content) >= tokens:
        return message
    files[path] = text
    return {**message, "content": content}


def _free_name(names: Iterable[str], digest: str, digests: dict[str, str]) -> str:
    """The first of *names* that is unused or already belongs to this text. It is added to *digests*.

    There always is such a name: the last name contains a digest of the text, or *names* is endless.
    """
    # `setdefault` is atomic, as is necessary because threads share *digests*.
    return next(name for name in names if digests.setdefault(name, digest) == digest)


def _id_in_name(id: str) -> str:
    """An id as a part of a file's name.

    A short and plain id (`_PLAIN_ID`) stays as it is, since it contains no path. Any other id is replaced by a digest.
    """
    return id if not id or _PLAIN_ID.fullmatch(id) else _digest(id)[:32]


# --- compress


def _compressed(
    messages: list[Message], options: ShorteningOptions, summarise: Summarise | None, digests: dict[str, str]
) -> Shortened:
    system = [m for m in messages if m["role"] in _SYSTEM_ROLES]
    others = [m for m in messages if m["role"] not in _SYSTEM_ROLES]
    keep_count = 2 if options.keep_recent_count is None else options.keep_recent_count
    end = max(0, len(others) - keep_count)
    while 0 < end < len(others) and others[end]["role"] == "tool":  # an answer of a tool stays with its call
        end -= 1
    if not end:
        return Shortened(messages, note="there is no older message to summarise")
    if summarise is None:
        raise Refused(
            "a summary needs a language model, and this client lends none (sampling): use mode compact, or a client "
            "with the capability sampling"
        )
    files: dict[str, str] = {}
    snapshots: list[str] = []
    for group in _groups(others[:end], options.group_token_threshold):
        text = lossless.dump_with_layout(group, indent=1)
        summary = _TAGS.sub("", summarise(text)).strip()
        if not summary:
            raise Refused("the client's language model returned no summary")
        names = (f"compressed_group_{_id_in_name(options.chat_id)}_{index}.json" for index in count())
        path = os.path.join(options.store_dir, _free_name(names, _digest(text), digests))
        files[path] = text
        snapshots.append(f"<state_snapshot>\n{summary}\n(original messages are stored in {path})\n</state_snapshot>")
    return Shortened([*_with_snapshots(system, "\n\n".join(snapshots)), *others[end:]], files)


def _groups(messages: list[Message], min_tokens: int) -> list[list[Message]]:
    groups: list[list[Message]] = [[]]
    for message in messages:
        if min_tokens and tokens_of(groups[-1]) >= min_tokens and message["role"] != "tool":
            groups.append([])
        groups[-1].append(message)
    return groups


def _with_snapshots(system: list[Message], snapshots: str) -> list[Message]:
    """The system messages with the snapshots at the end of the first one, or in a new one if there is none."""
    if not system:
        return [{"role": "system", "content": snapshots}]
    first, content = system[0], system[0].get("content")
    if isinstance(content, list):
        extended: Any = [*cast("list[Any]", content), {"type": "text", "text": snapshots}]
    else:
        extended = f"{_text(content)}\n\n{snapshots}" if content else snapshots
    return [{**first, "content": extended}, *system[1:]]
