"""The parts of a descriptor that explain a file of records from any tool.

Files of memories, the records of a memory server, are explained by `lro_reference.guide` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from lro_proxy.payload.descriptor_form import MAX_TOKENS_BY_FORM, Form
from lro_proxy.payload.fields import Fields, fields
from lro_proxy.payload.file_facts import FileFacts
from lro_proxy.payload.preview import preview
from lro_proxy.payload.recipes import OutputBound, has_half_pairs, recipes_for
from lro_proxy.payload.records import PayloadRecords
from lro_spec.jsonl import lossless
from lro_spec.messages import JqRecipe, OffloadResponse
from lro_spec.tokens import CHARACTERS_PER_TOKEN

_MAX_PREVIEW_TOKENS = 75
"""Maximum number of tokens of the preview in a full descriptor."""
_BASE_CHARACTERS, _USUAL_PATH_LENGTH = 360, 60
"""The first is the number of characters of a descriptor without its schema, preview, recipes and guidance. It includes
a path of the usual length, which is the second number."""
_MAX_VALUE_LENGTH = 40
"""Maximum number of characters of a frequent value in the guidance."""
_MAX_RESOURCES = 3
_MAX_TOP_VALUES: Mapping[Form, int] = {"compact": 2}
"""Maximum number of frequent values in the summary of a descriptor. A full descriptor has all that were found."""
_MAX_SCHEMA_TOKENS: Mapping[Form, int] = {"full": 110, "compact": 40}
"""Maximum number of tokens of a schema with types. If it would be larger, the schema has only the names of fields."""

TEXT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "description": "number of the line, from 1"},
        "text": {"type": "string"},
    },
}
"""The schema of lines of text."""
PART_SCHEMA: Mapping[str, Any] = {
    **TEXT_SCHEMA,
    "properties": {
        "n": TEXT_SCHEMA["properties"]["n"],
        "part": {"type": "integer", "description": "number of the part of a long line, from 1"},
        "text": {"type": "string"},
    },
}
"""The schema of lines of text if some are long and cut into parts."""


class RecordGuide:
    """A guide to the records of any tool (`lro_reference.results.Guide`)."""

    advice_to_narrow = "Ask for less at a time."

    def __init__(self, payload: PayloadRecords, tokens: int, threshold: int, form: Form = "full") -> None:
        self._form: Form = form
        self._payload, self._tokens, self._threshold = payload, tokens, threshold
        self._is_text = not len(payload.records)
        self._fields = Fields({}, frozenset(), {}) if self._is_text else fields(payload.records)
        self.file = FileFacts(payload.wide_count)
        """Facts about the file, which are complete once it is written."""
        self.noun = _noun(len(payload.lines), is_text=self._is_text)
        self.line_schema = _text_schema(payload, form) if self._is_text else self._schema()
        self.top_values = tuple(value for value, _ in self._fields.top_values)[: _MAX_TOP_VALUES.get(form)]

    def recipes(self, path: str) -> Sequence[JqRecipe]:
        """Recipes for the fields of the records. Each recipe has been tried on the first records.

        Empty if the descriptor has the form of a pointer, and if jq cannot read the file.
        """
        if self._form == "pointer" or (not self._payload.is_well_formed and has_half_pairs(path)):
            return ()
        path_excess = max(0, len(path) - _USUAL_PATH_LENGTH)
        other_parts = [
            self.line_schema,
            self._preview,
            self.guidance("", self._tokens, [JqRecipe("", "")]),
            self.top_values,
        ]
        room = (
            CHARACTERS_PER_TOKEN * MAX_TOKENS_BY_FORM[self._form]
            - _BASE_CHARACTERS
            - sum(map(_characters, other_parts))
        )
        min_count = 1 if self._form == "compact" else 2
        bound = OutputBound.of(self._threshold, self.file.wide_count)
        fields = None if self._is_text else self._fields
        is_brief = self._form == "compact"
        return recipes_for(
            fields,
            path,
            self._payload.lines,
            bound,
            room=room,
            min_count=min_count,
            path_excess=path_excess,
            is_brief=is_brief,
        )

    def guidance(self, path: str, tokens: int, recipes: Sequence[JqRecipe]) -> str:
        """The size of the file, and advice on using it. How much is said depends on the form of the descriptor."""
        count = len(self._payload.lines)
        if self._form == "pointer":
            return f"{count} {self.noun} (~{tokens} tokens), JSON lines from line 2."
        if recipes:
            advice = "In a shell, the recipes return parts of it: put your own words and fields in."
        else:
            why = "" if self._payload.is_well_formed else ", perhaps because jq stops at half of a surrogate pair"
            advice = f"There are no jq recipes for this file{why}. Use grep instead."
        extra_note = "; its `extra` holds what came with the records" * bool(self._payload.extra.get("around"))
        if self._form == "compact" and recipes:
            return f"{count} {self.noun} (~{tokens} tokens) from line 2. In a shell, use the recipe."
        frequent_values = ", ".join(
            f"{value[:_MAX_VALUE_LENGTH]} ({number})" for value, number in self._fields.top_values
        )
        name = ".".join(self._fields.group_field or ())
        frequent_note = f"Most frequent {name}: {frequent_values}.\n" if frequent_values else ""
        return (
            f"{count} {self.noun} (~{tokens} tokens saved), JSON lines from line 2 of {path}. "
            f"Line 1 is a header{extra_note}.\n"
            f"{frequent_note}{advice} Without a shell, ask the tool for less at a time."
        )

    def descriptor(self, response: OffloadResponse) -> dict[str, Any]:
        """The descriptor in the form of this guide.

        Only a full descriptor has the file's size and digest, the resources that the records come from, and a preview.
        """
        if self._form == "pointer":
            return {"offloaded": True, "file_path": response.file_path, "guidance": response.guidance}
        if self._form == "compact":
            return response.to_dict()
        size: dict[str, Any] = {"size": self.file.size, "sha256": self.file.sha256}
        preview_member = {"preview": self._preview} if self._preview else {}
        return replace(response, further=size | self._origin() | preview_member).to_dict()

    def _origin(self) -> dict[str, Any]:
        """The addresses and types of the embedded resources that the records come from.

        If there are many resources, only the first `_MAX_RESOURCES` are named.
        """
        blocks: Mapping[str, Any] = self._payload.extra.get("blocks", {})
        resources = [
            {key: block["resource"][key] for key in ("uri", "mimeType") if key in block["resource"]}
            for block in islice((block for block in blocks.values() if "resource" in block), _MAX_RESOURCES)
        ]
        return {"resources": resources} if resources else {}

    @cached_property
    def _preview(self) -> list[Any]:
        max_tokens = min(_MAX_PREVIEW_TOKENS, self._tokens // 4)
        return preview(self._payload.lines, len(self._payload.lines), max_tokens) if self._form == "full" else []

    def _schema(self) -> Mapping[str, Any]:
        """The schema of a record, with as much detail as the form's size allows."""
        max_characters = _MAX_SCHEMA_TOKENS.get(self._form, 0) * CHARACTERS_PER_TOKEN
        schemas = (self._fields.schema(nested=nested, required=False) for nested in (True, False))
        fitting = next((schema for schema in schemas if _characters(schema) <= max_characters), None)
        return fitting or self._fields.names(max_characters)


def _text_schema(payload: PayloadRecords, form: Form) -> Mapping[str, Any]:
    schema = PART_SCHEMA if getattr(payload.lines, "has_cut_lines", False) else TEXT_SCHEMA
    if form == "full":
        return schema
    return {
        "type": "object",
        "properties": {name: {"type": field["type"]} for name, field in schema["properties"].items()},
    }


def _noun(count: int, *, is_text: bool) -> str:
    if is_text:
        return "line of text" if count == 1 else "lines of text"
    return "record" if count == 1 else "records"


def _characters(value: object) -> int:
    return len(lossless.dump(value).decode())
