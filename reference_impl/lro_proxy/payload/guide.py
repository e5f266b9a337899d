"""The parts of a descriptor that explain a file of records which are not memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from lro_proxy.payload.descriptor_form import SIZES, Form
from lro_proxy.payload.fields import Fields, fields
from lro_proxy.payload.file_facts import FileFacts
from lro_proxy.payload.preview import preview
from lro_proxy.payload.recipes import Bound, has_half_pairs, recipes_for
from lro_proxy.payload.shape import Shape
from lro_spec.jsonl import lossless
from lro_spec.messages import JqRecipe, OffloadResponse
from lro_spec.tokens import CHARACTERS_PER_TOKEN

_PREVIEW = 75
"""Maximum tokens of the preview in a full descriptor."""
_SKELETON, _USUAL_PATH = 360, 60
"""Characters of a descriptor without its schema, preview, recipes and guidance, but with a path of the usual length;
and that length."""
_LONGEST_VALUE = 40
"""Maximum number of characters of a frequent value in the guidance."""
_MOST_RESOURCES = 3
_MOST_TOP: Mapping[Form, int] = {"compact": 2}
"""Maximum number of most frequent values in the summary of a descriptor; that of a full one has all that were found."""
_LARGEST_SCHEMA: Mapping[Form, int] = {"full": 110, "compact": 40}
"""Maximum tokens of a schema with types; instead of a larger one, a descriptor has only names of fields."""

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

    narrower = "Ask for less at a time."

    def __init__(self, shape: Shape, tokens: int, threshold: int, form: Form = "full") -> None:
        self._form: Form = form
        self._shape, self._tokens, self._threshold = shape, tokens, threshold
        self._is_text = not len(shape.records)
        self._fields = Fields({}, frozenset(), {}) if self._is_text else fields(shape.records)
        self.file = FileFacts(shape.wide)
        """Facts of the file, once it is written."""
        self.noun = _noun(len(shape.lines), is_text=self._is_text)
        self.line_schema = _text_schema(shape, form) if self._is_text else self._schema()
        self.top = tuple(value for value, _ in self._fields.top)[: _MOST_TOP.get(form)]

    def recipes(self, path: str) -> Sequence[JqRecipe]:
        """Recipes for the fields of the records, each tried on the first records.

        There are none in a pointer, and none if jq cannot read the file.
        """
        if self._form == "pointer" or (not self._shape.is_well_formed and has_half_pairs(path)):
            return ()
        free = max(0, len(path) - _USUAL_PATH)
        around = [self.line_schema, self._preview, self.guidance("", self._tokens, [JqRecipe("", "")]), self.top]
        room = CHARACTERS_PER_TOKEN * SIZES[self._form] - _SKELETON - sum(map(_characters, around))
        least = 1 if self._form == "compact" else 2
        bound = Bound.of(self._threshold, self.file.wide)
        fields = None if self._is_text else self._fields
        is_brief = self._form == "compact"
        return recipes_for(fields, path, self._shape.lines, bound, room=room, least=least, free=free, is_brief=is_brief)

    def guidance(self, path: str, tokens: int, recipes: Sequence[JqRecipe]) -> str:
        """The size of the file, and advice on using it, as far as the descriptor's form has room for that."""
        count = len(self._shape.lines)
        if self._form == "pointer":
            return f"{count} {self.noun} (~{tokens} tokens), JSON lines from line 2."
        if recipes:
            advice = "In a shell, the recipes return parts of it: put your own words and fields in."
        else:
            why = "" if self._shape.is_well_formed else ", perhaps because jq stops at half of a surrogate pair"
            advice = f"There are no jq recipes for this file{why}. Use grep instead."
        around = "; its `extra` holds what came with the records" * bool(self._shape.extra.get("around"))
        if self._form == "compact" and recipes:
            return f"{count} {self.noun} (~{tokens} tokens) from line 2. In a shell, use the recipe."
        most = ", ".join(f"{value[:_LONGEST_VALUE]} ({number})" for value, number in self._fields.top)
        name = ".".join(self._fields.grouping or ())
        grouped = f"Most frequent {name}: {most}.\n" if most else ""
        return (
            f"{count} {self.noun} (~{tokens} tokens saved), JSON lines from line 2 of {path}. "
            f"Line 1 is a header{around}.\n"
            f"{grouped}{advice} Without a shell, ask the tool for less at a time."
        )

    def descriptor(self, response: OffloadResponse) -> dict[str, Any]:
        """The descriptor in the form of this guide.

        Only a full one has the file's size and digest, the resources that the records come from, and a preview.
        """
        if self._form == "pointer":
            return {"offloaded": True, "file_path": response.file_path, "guidance": response.guidance}
        if self._form == "compact":
            return response.to_dict()
        size: dict[str, Any] = {"size": self.file.size, "sha256": self.file.sha256}
        shown = {"preview": self._preview} if self._preview else {}
        return replace(response, further=size | self._origin() | shown).to_dict()

    def _origin(self) -> dict[str, Any]:
        """The addresses and types of the embedded resources that the records come from, of a few if there are many."""
        blocks: Mapping[str, Any] = self._shape.extra.get("blocks", {})
        resources = [
            {key: block["resource"][key] for key in ("uri", "mimeType") if key in block["resource"]}
            for block in islice((block for block in blocks.values() if "resource" in block), _MOST_RESOURCES)
        ]
        return {"resources": resources} if resources else {}

    @cached_property
    def _preview(self) -> list[Any]:
        most = min(_PREVIEW, self._tokens // 4)
        return preview(self._shape.lines, len(self._shape.lines), most) if self._form == "full" else []

    def _schema(self) -> Mapping[str, Any]:
        """The schema of a record, with as much detail as the form's size allows."""
        most = _LARGEST_SCHEMA.get(self._form, 0) * CHARACTERS_PER_TOKEN
        schemas = (self._fields.schema(nested=nested, required=False) for nested in (True, False))
        fitting = next((schema for schema in schemas if _characters(schema) <= most), None)
        return fitting or self._fields.names(most)


def _text_schema(shape: Shape, form: Form) -> Mapping[str, Any]:
    schema = PART_SCHEMA if getattr(shape.lines, "are_cut", False) else TEXT_SCHEMA
    if form == "full":
        return schema
    return {"type": "object", "properties": {name: {"type": one["type"]} for name, one in schema["properties"].items()}}


def _noun(count: int, *, is_text: bool) -> str:
    if is_text:
        return "line of text" if count == 1 else "lines of text"
    return "record" if count == 1 else "records"


def _characters(value: object) -> int:
    return len(lossless.dump(value).decode())
