"""Offloading the result of any MCP tool: for servers whose results have a shape of their own, and for the proxy."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from lro_proxy.payload import memories as memory_results
from lro_proxy.payload import python_values
from lro_proxy.payload.descriptor_form import Form
from lro_proxy.payload.file_facts import FileFacts
from lro_proxy.payload.guide import RecordGuide
from lro_proxy.payload.link import resource_link
from lro_proxy.payload.pointers import is_pointer
from lro_proxy.payload.records import PayloadRecords, payload_records, text_records
from lro_proxy.payload.result import ToolResult, content_of, payload_places, result_of_program
from lro_proxy.payload.text import Text, text_of_records
from lro_reference import delegation
from lro_reference.custodian import clean
from lro_reference.events import Emit, to_stderr
from lro_reference.interceptor import Estimate, Inline, Offloaded, ResultSet, Truncated, intercept
from lro_reference.memory.model import SCHEMA_VERSION
from lro_reference.settings import Settings, from_environment
from lro_reference.writer import encode
from lro_spec.discovery import find_descriptor
from lro_spec.editions import DEFAULT_EDITION, EDITIONS, OTHER_TOOLS_EDITION
from lro_spec.jsonl import lossless
from lro_spec.messages import OffloadResponse
from lro_spec.tokens import CHARACTERS_PER_TOKEN, characters_estimate, script_aware_estimate, tokens_of_counts

RECORDS_VERSION = "0"
"""The schema version in headers of files whose records are not MIF memories."""
MEMORY_EDITION, RECORD_EDITION = DEFAULT_EDITION, OTHER_TOOLS_EDITION
"""The editions of the specification by which files are named: the first for files of memories, the second for files of
other records. The second is the edition of the paper. It lists no operations, so that a file name may have the name of
any tool."""
_NOT_IN_A_WORD = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)
_MAX_NAME_LENGTH = 64
"""Maximum number of characters of a tool's name in a file name."""
_OFFLOADED_NAME = re.compile(
    rf"(?:{'|'.join(EDITIONS[name].file_prefix for name in (MEMORY_EDITION, RECORD_EDITION))})"
    rf"-\w{{1,{_MAX_NAME_LENGTH + 5}}}-[0-7][0-9A-HJKMNP-TV-Z]{{25}}\.jsonl".encode()
)
"""The name of an offloaded file."""
_ESTIMATE_OF_COUNTS: Mapping[Estimate, Callable[[int, int], int]] = {
    script_aware_estimate: tokens_of_counts,
    characters_estimate: lambda characters, wide_count: -(-characters // CHARACTERS_PER_TOKEN),
}
"""For a function that estimates the tokens of a text, another one that computes the same estimate from two numbers: all
characters, and the wide ones among them (Chinese, Japanese, Korean and emoji). With these, the text need not be in
memory."""


class Interceptor:
    """Offloads large results of tools; one instance serves any number of calls.

    *settings* defaults to the settings in the environment (``ATLATL_PROMPT__OFFLOAD__…``), where an invalid one raises
    `SettingsError`.
    *emit* receives an event for every file written or deleted, and for every failed write. *estimate* returns the
    estimated tokens of a text. *publish* receives every descriptor and returns the one for the client
    (`lro_proxy.tools.toolbox.Toolbox.publish`). *form* is how much a descriptor says if the records are not memories.
    With *links*, a link to the file as a resource is added to the result.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        emit: Emit = to_stderr,
        estimate: Estimate = script_aware_estimate,
        publish: Callable[[OffloadResponse], OffloadResponse] | None = None,
        form: Form = "full",
        links: bool = False,
    ) -> None:
        self.settings = from_environment() if settings is None else settings
        self._form: Form = form
        self._emit, self._estimate, self._links = emit, estimate, links
        self._publish: Callable[[OffloadResponse], OffloadResponse] = publish or (lambda response: response)
        self._estimate_of_counts = _ESTIMATE_OF_COUNTS.get(estimate)

    def __call__(self, value: Any, *, operation: str = "results", arguments: Mapping[str, Any] | None = None) -> Any:
        """Return *value* itself if it fits the threshold; otherwise write it to a file and return the descriptor.

        *value* is any JSON value. Tuples become arrays. A value with NaN or infinity is kept as the text that Python's
        `json` writes. *operation* becomes part of the file's name; *arguments* are the call's arguments. Raises
        `TypeError` for a value that cannot be serialised.

        Descriptors and pointers (`lro_proxy.payload.pointers`) are returned unchanged. Any value is returned unchanged
        if an argument of the call names an offloaded file. If the file cannot be written, the records that fit the
        threshold are returned, with a warning.
        """
        wrapped = {"structuredContent": value}
        answer = self._result(wrapped, operation, arguments)
        return value if answer is wrapped else json.loads(encode(answer["structuredContent"]))

    def result(
        self, result: Mapping[str, Any], *, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return *result*, a `tools/call` result as JSON, or a result with a descriptor in place of its payload.

        Errors, results that another server has offloaded, and content that is read from an offloaded file are returned
        unchanged, as are results that fit the threshold. If the file cannot be written, the result has the records that
        fit the threshold, and a warning.
        """
        return self._result(result, distinct_tool_name(tool), arguments)

    def _result(self, result: Mapping[str, Any], tool: str, arguments: Mapping[str, Any] | None) -> Mapping[str, Any]:
        try:
            answer = self.offload(result_of_program(result), tool=tool, arguments=arguments)
        except python_values.NoJsonError:
            without_structured = {**result, "structuredContent": None}
            structured_only = result_of_program(without_structured).size == (0, 0)
            text = python_values.text(result["structuredContent"] if structured_only else result)
            source = "structuredContent" if structured_only else "result"
            answer = self.offload_text(text, result, source=source, tool=tool, arguments=arguments)
        return result if answer is None else answer

    def offload(
        self,
        result: ToolResult,
        *,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        threshold_tokens: int | None = None,
    ) -> Mapping[str, Any] | None:
        """The result with a descriptor instead of its payload; None if the result stays unchanged.

        If the file cannot be written, the result has the records that fit the threshold, and a warning.
        *threshold_tokens* replaces the setting. Raises `lossless.InexactError` for a result that can only be
        preserved as its original text (`offload_text`).
        """
        settings = self._settings(threshold_tokens)
        if delegation.has_result_meta(result.members):
            without_meta = replace(result, members=delegation.without_result_meta(result.members))
            answer = self._delegated(result, without_meta, settings)
            if answer is not None:
                return answer
            # The server's delegation metadata is invalid: ignore it, but still strip it from the client's result.
            answer = self.offload(without_meta, tool=tool, arguments=arguments, threshold_tokens=threshold_tokens)
            return without_meta.parsed() if answer is None else answer
        if not settings.enabled or result.members.get("isError") is True or _reads_back(arguments):
            return None
        tokens, threshold = self._tokens(result), settings.threshold_tokens
        structured_tokens = 0 if tokens > threshold else self._tokens_beside_text(result)
        # The next test suffices for memories, too. They are estimated by their lines, which are never larger than the
        # text that contained them.
        if max(tokens, structured_tokens) <= threshold or self._is_offloaded(result, threshold):
            return None
        payload = payload_records(result)
        if payload is None or not len(payload.lines) or (tokens <= threshold and payload.extra.get("from") == "both"):
            return None
        return self._offload(result.members, payload, max(tokens, structured_tokens), settings, tool, arguments)

    def offload_text(
        self,
        text: str,
        result: Mapping[str, Any],
        *,
        source: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        threshold_tokens: int | None = None,
    ) -> Mapping[str, Any] | None:
        """Like `offload`, for a result that can only be preserved as its original text; *source* goes to the header."""
        settings = self._settings(threshold_tokens)
        whole = Text.of(text)
        payload = text_records(whole, {"from": source})
        tokens = self._tokens(ToolResult(result, whole))
        if not settings.enabled or result.get("isError") is True or tokens <= settings.threshold_tokens:
            return None
        if _reads_back(arguments):
            return None
        return self._offload(result, payload, tokens, settings, tool, arguments)

    def _tokens(self, result: ToolResult) -> int:
        return (
            self._estimate(result.payload())
            if self._estimate_of_counts is None
            else self._estimate_of_counts(*result.size)
        )

    def _tokens_beside_text(self, result: ToolResult) -> int:
        """Estimated tokens of structured content in a result that has text, too; 0 for any other result."""
        if result.structured is None or (result.text is None and result.blocks is None):
            return 0
        if self._estimate_of_counts is None:
            return self._estimate(encode(result.parsed_structured()).decode())
        return self._estimate_of_counts(*result.structured_size)

    def _is_offloaded(self, result: ToolResult, threshold: int) -> bool:
        """True if the result is a descriptor, or a pointer (`lro_proxy.payload.pointers`).

        The text around the descriptor has to fit the threshold, because a large text about descriptors may quote one.
        """
        if not result.may_have_descriptor():
            return False
        parsed = json.loads(encode(result.parsed()))
        descriptor = find_descriptor(parsed)
        if descriptor is None:
            return is_pointer(parsed)
        return self._estimate(descriptor.surrounding_text) <= threshold

    def _offload(
        self,
        result: Mapping[str, Any],
        payload: PayloadRecords,
        tokens: int,
        settings: Settings,
        tool: str,
        arguments: Mapping[str, Any] | None,
    ) -> Mapping[str, Any] | None:
        are_memories = memory_results.are_memories(payload.records)
        guide = None if are_memories else RecordGuide(payload, tokens, settings.threshold_tokens, self._form)
        results = (
            _memory_result_set(payload, tool, arguments or {})
            if guide is None
            else _record_result_set(payload, tool, arguments or {}, tokens, guide)
        )
        edition = MEMORY_EDITION if are_memories else RECORD_EDITION
        file = FileFacts() if guide is None else guide.file
        results = replace(results, on_chunk=file.add)
        match intercept(results, settings, self._emit, edition=edition, estimate=self._estimate):
            case Inline():
                return None
            case Offloaded(response):
                response = self._publish(response)
                return self._with_descriptor(result, response, file, guide)
            case Truncated(lines, total, warning):
                beginning = self._beginning(payload, settings.threshold_tokens) if not lines else ""
                return _truncated(result, payload, lines, total, warning, beginning)

    def _with_descriptor(
        self,
        result: Mapping[str, Any],
        response: OffloadResponse,
        file: FileFacts,
        guide: RecordGuide | None = None,
    ) -> dict[str, Any]:
        descriptor = response.to_dict() if guide is None else guide.descriptor(response)
        answer = _with_payload(result, encode(descriptor).decode(), descriptor)
        if self._links and "content" in answer:
            answer["content"] += [resource_link(response.file_path, file)]
        return answer

    def clean(self, folder: str | None = None) -> int:
        """Delete expired files of any run in *folder* (default: the folder of the settings); return their number.

        A file that cannot be deleted is left, without an error.
        """
        folder, ttl = folder or self.settings.folder, self.settings.ttl_seconds
        memories = clean(folder, ttl, self._emit, edition=MEMORY_EDITION)
        records = clean(
            folder, ttl, self._emit, edition=RECORD_EDITION, ulid_only=True
        )  # other programs may write lro-*.jsonl, too
        return len(memories.deleted) + len(records.deleted)

    def _beginning(self, payload: PayloadRecords, threshold: int) -> str:
        """As much of the first record as fits the threshold.

        Of a line of text, this is the beginning of the text. Of a record with fields, it is the beginning of its JSON.
        """
        line = next(iter(payload.lines)).decode()
        text: str = json.loads(line)["text"] if _is_text(payload) else line
        size = min(len(text), CHARACTERS_PER_TOKEN * threshold)
        while (
            size < len(text) and self._estimate(text[:size]) <= threshold
        ):  # with a custom estimator, tokens may be longer than four characters
            size = min(len(text), 2 * size + 1)
        return text[: bisect_right(range(size + 1), threshold, key=lambda end: self._estimate(text[:end])) - 1]

    def _settings(self, threshold_tokens: int | None) -> Settings:
        return self.settings if threshold_tokens is None else replace(self.settings, threshold_tokens=threshold_tokens)

    def _delegated(self, result: ToolResult, without_meta: ToolResult, settings: Settings) -> Mapping[str, Any] | None:
        """The result of a server that has delegated offloading to this proxy; None if its metadata is invalid.

        *without_meta* is the result without that metadata.
        """
        if result.members.get("isError") is True:
            return without_meta.parsed()
        payload = payload_records(without_meta)
        results = delegation.result_set(result.members, _delegated_memories(payload), MEMORY_EDITION)
        if results is None:
            return None
        file = FileFacts()
        results = replace(results, on_chunk=file.add)
        match intercept(results, settings, self._emit, edition=MEMORY_EDITION, estimate=self._estimate):
            case Inline():
                return without_meta.parsed()
            case Offloaded(response):
                response = self._publish(response)
                return self._with_descriptor(without_meta.members, response, file)
            case Truncated(lines, total, warning):
                return _truncated_records(without_meta.members, lines, total, warning)


def _memory_result_set(payload: PayloadRecords, tool: str, arguments: Mapping[str, Any]) -> ResultSet:
    return ResultSet(
        operation=memory_results.operation(tool),
        detail=memory_results.detail(arguments, payload.records),
        records=payload.records,
        line_schema=memory_results.line_schema(payload.records),
        schema_version=SCHEMA_VERSION,
        query=_query(arguments),
        lines=payload.lines,  # *tokens* is not given: the lines are estimated, as in any memory server
        extra=payload.extra,
    )


def _delegated_memories(payload: PayloadRecords | None) -> list[Any] | None:
    """The memories in a delegated result, which the server declares to contain memories; None if none can be found."""
    if payload is None:
        return None
    if payload.extra.get("format") == "members":  # an object without a large array: its array of memories may be empty
        return [] if [] in (record.get("value") for record in payload.records) else None
    return list(map(lossless.parse, payload.lines)) if len(payload.records) else []


def _record_result_set(
    payload: PayloadRecords, tool: str, arguments: Mapping[str, Any], tokens: int, guide: RecordGuide
) -> ResultSet:
    return ResultSet(
        operation=operation_of(tool),
        detail="full",
        records=payload.records,
        line_schema=guide.line_schema,
        schema_version=RECORDS_VERSION,
        query=_query(arguments),
        lines=payload.lines,
        tokens=tokens,
        extra=payload.extra,
        guide=guide,
    )


def operation_of(tool: str) -> str:
    """The tool's name as a part of a file name."""
    return _NOT_IN_A_WORD.sub("_", tool).strip("_")[:_MAX_NAME_LENGTH] or "tool"


def distinct_tool_name(tool: str) -> str:
    """The tool's name, with ``_tool`` added if it is an operation on memories: any server may have a tool `search`."""
    return f"{tool}_tool" if tool in EDITIONS[MEMORY_EDITION].operations else tool


def _reads_back(arguments: Mapping[str, Any] | None) -> bool:
    """True if a call names an offloaded file: its result is a part that the client wants to see now."""
    return bool(arguments) and _OFFLOADED_NAME.search(encode(arguments)) is not None


def _query(arguments: Mapping[str, Any]) -> str | None:
    query = arguments.get("query")
    return query if isinstance(query, str) else None


def _with_payload(result: Mapping[str, Any], text: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """The result with another payload, and otherwise unchanged.

    *text* becomes the text. If the result had structured content, *value* replaces it.
    """
    answer = dict(result)
    if "content" in result or "structuredContent" not in result:
        places = payload_places(result)
        kept_blocks = (block for place, block in enumerate(content_of(result)) if place not in places)
        answer["content"] = [{"type": "text", "text": text}, *kept_blocks]
    if result.get("structuredContent") is not None:
        answer["structuredContent"] = value
    return answer


def _is_text(payload: PayloadRecords) -> bool:
    return payload.extra.get("format") == "text" and "at" not in payload.extra


def _truncated(
    result: Mapping[str, Any], payload: PayloadRecords, lines: Sequence[bytes], total: int, warning: str, beginning: str
) -> dict[str, Any]:
    """The result with the records that fit, or with the *beginning* of the first record if not even one fits."""
    if beginning:
        noun = "line" if _is_text(payload) else "record"
        warning += f" Only the first {len(beginning)} characters of the first {noun} are returned."
    if _is_text(payload) and result.get("structuredContent") is None:
        text = beginning or text_of_records(map(json.loads, lines))
        return _with_payload(result, f"{text}\n\n{warning}" if text else warning, {})
    return _truncated_records(result, lines, total, warning, beginning)


def _truncated_records(
    result: Mapping[str, Any], kept: Sequence[bytes], total: int, warning: str, beginning: str = ""
) -> dict[str, Any]:
    records = orjson.Fragment(b"[" + b",".join(kept) + b"]")
    value = {"offloaded": False, "results": records, "count": len(kept), "total": total, "warning": warning}
    if beginning:
        value["beginning"] = beginning
    return _with_payload(result, encode(value).decode(), value)
