"""Offloading the result of any MCP tool: for servers whose results have a shape of their own, and for the proxy."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import orjson

from lro_proxy.payload import memories as memory_results
from lro_proxy.payload import python_values
from lro_proxy.payload.classify import Shape, is_text, shape, structured_beside_text, text_of
from lro_proxy.payload.guide import RecordGuide
from lro_proxy.payload.lines import TextLines
from lro_reference import delegation
from lro_reference.custodian import clean
from lro_reference.events import Emit, to_stderr
from lro_reference.interceptor import Estimate, Inline, Offloaded, ResultSet, Truncated, intercept
from lro_reference.memory.model import SCHEMA_VERSION
from lro_reference.settings import Settings, from_environment
from lro_reference.writer import encode
from lro_spec.discovery import find_descriptor
from lro_spec.messages import OffloadResponse
from lro_spec.tokens import script_aware_estimate

RECORDS_VERSION = "0"
"""The schema version in headers of files whose records are not MIF memories."""
MEMORY_EDITION, RECORD_EDITION = "lro-6400", "lro-paper"
"""How files are named: the paper's text has no list of operations, so any tool may be one."""
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)
_LONGEST_NAME = 64
_LARGEST_DESCRIPTOR = 1 << 16
_TOKEN = 4
"""Characters that are more than no token in most estimates."""


class Interceptor:
    """Offloads large results of tools; one instance serves any number of calls.

    *settings* defaults to those of the environment (``ATLATL_PROMPT__OFFLOAD__…``); raises `SettingsError` for a wrong
    one. *emit* receives an event for every file written and every failed write. *publish* receives every descriptor
    and returns the one for the client (`lro_proxy.tools.toolbox.Toolbox.publish`).
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        emit: Emit = to_stderr,
        estimate: Estimate = script_aware_estimate,
        publish: Callable[[OffloadResponse], OffloadResponse] = lambda response: response,
    ) -> None:
        self.settings = from_environment() if settings is None else settings
        self._emit, self._estimate, self._publish = emit, estimate, publish

    def __call__(self, value: Any, *, operation: str = "results", arguments: Mapping[str, Any] | None = None) -> Any:
        """*value* itself where it fits the threshold; otherwise it is in a file, and this is the descriptor.

        *value* is any JSON value; tuples become arrays, and one with NaN or infinity is kept as the text that Python
        writes. *operation* becomes part of the file's name; *arguments* are those of the call. Raises `TypeError` for
        what is no JSON.
        """
        wrapped = {"structuredContent": value}
        made = self.result(wrapped, tool=operation, arguments=arguments)
        return value if made is wrapped else json.loads(encode(made["structuredContent"]))

    def result(
        self,
        result: Mapping[str, Any],
        *,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        again: Callable[[], Mapping[str, Any]] | None = None,
        threshold_tokens: int | None = None,
    ) -> Mapping[str, Any]:
        """A `tools/call` result as JSON: *result* itself where it stays as it is, or one that holds a descriptor.

        Errors, and what another server has offloaded, stay as they are. *again* parses the result once more without
        losing a digit (`exact.parse`); *threshold_tokens* stands instead of the setting.
        """
        if delegation.has_result_meta(result):
            whole = again or (lambda: result)
            told = self._told(result, whole, threshold_tokens)
            if told is not None:
                return told
            result, again = (
                delegation.without_result_meta(result),
                lambda: delegation.without_result_meta(whole()),
            )  # which makes no sense
        settings = self._settings(threshold_tokens)
        if not settings.enabled or result.get("isError") is True:
            return result
        if again is None and result.get("structuredContent") is not None:  # of a program's, and not read by a parser
            try:
                parsed = {**result, "structuredContent": python_values.plain(result["structuredContent"])}
            except python_values.NoJsonError:
                return self._as_text(result, tool, arguments, threshold_tokens)
            made = self.result(
                parsed, tool=tool, arguments=arguments, again=lambda: parsed, threshold_tokens=threshold_tokens
            )
            return result if made is parsed else made
        text = text_of(result)
        tokens, threshold = self._estimate(text), settings.threshold_tokens
        more = 0 if tokens > threshold else self._estimate(structured_beside_text(result))
        # Records as lines never weigh more than the text they came in, so this is no hasty verdict on memories either.
        if max(tokens, more) <= threshold or (
            len(text) <= _LARGEST_DESCRIPTOR and self._is_offloaded(result, threshold)
        ):
            return result
        del text
        found = shape(result, again or (lambda: result))
        if found is None or not len(found.lines) or (tokens <= threshold and found.extra.get("from") == "both"):
            return result
        return self.shaped(
            result, found, max(tokens, more), tool=tool, arguments=arguments, threshold_tokens=threshold_tokens
        )

    def _is_offloaded(self, result: Mapping[str, Any], threshold: int) -> bool:
        """Whether all of it that is large is a descriptor; a text about descriptors may hold one, too."""
        found = find_descriptor(result)
        return found is not None and self._estimate(found.around) <= threshold

    def _as_text(
        self,
        result: Mapping[str, Any],
        tool: str,
        arguments: Mapping[str, Any] | None,
        threshold_tokens: int | None,
    ) -> Mapping[str, Any]:
        """Like `result`, for structured content that is no JSON: the file holds the text that Python writes."""
        alone = not text_of({**result, "structuredContent": None})
        text = python_values.text(result["structuredContent"] if alone else result)
        told = "structuredContent" if alone else "result"
        found = Shape(TextLines(text), (), {"format": "text", "from": told, "ending": ""})
        tokens = self._estimate(text)
        if tokens <= self._settings(threshold_tokens).threshold_tokens:
            return result
        return self.shaped(result, found, tokens, tool=tool, arguments=arguments, threshold_tokens=threshold_tokens)

    def shaped(
        self,
        result: Mapping[str, Any],
        found: Shape,
        tokens: int,
        *,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        threshold_tokens: int | None = None,
    ) -> Mapping[str, Any]:
        """Like `result`, for one whose payload is known as *found* and costs *tokens*."""
        settings = self._settings(threshold_tokens)
        memories = memory_results.are_memories(found.records)
        results = (_memories if memories else _records)(found, tool, arguments or {}, tokens)
        edition = MEMORY_EDITION if memories else RECORD_EDITION
        match intercept(results, settings, self._emit, edition=edition, estimate=self._estimate):
            case Inline():
                return result
            case Offloaded(response):
                return _descriptor(result, self._publish(response))
            case Truncated(lines, total, warning):
                beginning = self._beginning(found, settings.threshold_tokens) if not lines else ""
                return _truncated(result, found, lines, total, warning, beginning)

    def clean(self, folder: str | None = None) -> int:
        """Deletes the expired files of its folder, or of another, of earlier runs as well; how many. Never raises."""
        folder, ttl = folder or self.settings.folder, self.settings.ttl_seconds
        memories = clean(folder, ttl, self._emit, edition=MEMORY_EDITION)
        records = clean(folder, ttl, self._emit, edition=RECORD_EDITION, ulid_only=True)  # lro-*.jsonl may be anybody's
        return len(memories.deleted) + len(records.deleted)

    def _beginning(self, found: Shape, threshold: int) -> str:
        """What of the first record fits the threshold: of its text, or of its JSON where it is no line of text."""
        line = next(iter(found.lines)).decode()
        text: str = json.loads(line)["text"] if _is_text(found) else line
        size = min(len(text), _TOKEN * threshold)
        while size < len(text) and self._estimate(text[:size]) <= threshold:  # tokens of its own may be longer
            size = min(len(text), 2 * size + 1)
        return text[: bisect_right(range(size + 1), threshold, key=lambda end: self._estimate(text[:end])) - 1]

    def _settings(self, threshold_tokens: int | None) -> Settings:
        return self.settings if threshold_tokens is None else replace(self.settings, threshold_tokens=threshold_tokens)

    def _told(
        self, result: Mapping[str, Any], again: Callable[[], Mapping[str, Any]], threshold_tokens: int | None
    ) -> Mapping[str, Any] | None:
        """The result of a server that knows that a proxy offloads for it; what it has told is not for the client.

        None where that makes no sense.
        """
        shown = delegation.without_result_meta(result)
        if result.get("isError") is True:
            return shown
        found = shape(shown, lambda: delegation.without_result_meta(again()))
        records = None if found is None else list(found.records)
        results = delegation.result_set(again(), records, MEMORY_EDITION)
        if results is None:
            return None
        outcome = intercept(
            results, self._settings(threshold_tokens), self._emit, edition=MEMORY_EDITION, estimate=self._estimate
        )
        match outcome:
            case Inline():
                return shown
            case Offloaded(response):
                return _descriptor(shown, self._publish(response))
            case Truncated(lines, total, warning):
                return _cut(shown, lines, total, warning)


def _memories(found: Shape, tool: str, arguments: Mapping[str, Any], tokens: int) -> ResultSet:
    del tokens  # memories are weighed by their lines, as any memory server weighs them
    return ResultSet(
        operation=memory_results.operation(tool),
        detail=memory_results.detail(arguments, found.records),
        records=found.records,
        line_schema=memory_results.line_schema(found.records),
        schema_version=SCHEMA_VERSION,
        query=_query(arguments),
        lines=found.lines,
        extra=found.extra,
    )


def _records(found: Shape, tool: str, arguments: Mapping[str, Any], tokens: int) -> ResultSet:
    guide = RecordGuide(found)
    return ResultSet(
        operation=operation_of(tool),
        detail="full",
        records=found.records,
        line_schema=guide.line_schema,
        schema_version=RECORDS_VERSION,
        query=_query(arguments),
        lines=found.lines,
        tokens=tokens,
        extra=found.extra,
        guide=guide,
    )


def operation_of(tool: str) -> str:
    """The tool's name as a part of a file name."""
    return _NOT_A_WORD.sub("_", tool).strip("_")[:_LONGEST_NAME] or "tool"


def _query(arguments: Mapping[str, Any]) -> str | None:
    query = arguments.get("query")
    return query if isinstance(query, str) else None


def _descriptor(result: Mapping[str, Any], response: OffloadResponse) -> dict[str, Any]:
    value = response.to_dict()
    return _with_payload(result, encode(value).decode(), value)


def _with_payload(result: Mapping[str, Any], text: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """The result with another payload, as text and, where there was one, as structured content; the rest stays."""
    made = dict(result)
    if "content" in result or "structuredContent" not in result:
        content = cast("list[Any]", result.get("content") or [])
        made["content"] = [{"type": "text", "text": text}, *(block for block in content if not is_text(block))]
    if result.get("structuredContent") is not None:
        made["structuredContent"] = value
    return made


def _is_text(found: Shape) -> bool:
    return found.extra.get("format") == "text"


def _truncated(
    result: Mapping[str, Any], found: Shape, lines: Sequence[bytes], total: int, warning: str, beginning: str
) -> dict[str, Any]:
    """The records that fit; of the first one the *beginning*, where not even that fits as a whole."""
    if beginning:
        what = "line" if _is_text(found) else "record"
        warning += f" Of the first {what}, its first {len(beginning)} characters are returned."
    if _is_text(found) and result.get("structuredContent") is None:
        text = beginning or "\n".join(json.loads(line)["text"] for line in lines)
        return _with_payload(result, f"{text}\n\n{warning}" if text else warning, {})
    return _cut(result, lines, total, warning, beginning)


def _cut(
    result: Mapping[str, Any], kept: Sequence[bytes], total: int, warning: str, beginning: str = ""
) -> dict[str, Any]:
    records = orjson.Fragment(b"[" + b",".join(kept) + b"]")
    value = {"offloaded": False, "results": records, "count": len(kept), "total": total, "warning": warning}
    if beginning:
        value["beginning"] = beginning
    return _with_payload(result, encode(value).decode(), value)
