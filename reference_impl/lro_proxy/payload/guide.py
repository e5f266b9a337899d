"""The parts of a descriptor that explain a file of records which are not memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lro_proxy.payload.fields import Fields, fields
from lro_proxy.payload.recipes import has_half_pairs, recipes_for, recipes_for_text
from lro_proxy.payload.shape import Shape
from lro_spec.messages import JqRecipe

TEXT_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "n": {"type": "integer", "description": "number of the line, from 1"},
        "text": {"type": "string", "description": "the line without its line feed"},
    },
    "required": ["n", "text"],
}
"""The schema of lines of text."""


class RecordGuide:
    """A guide to the records of any tool (`lro_reference.results.Guide`)."""

    narrower = "Ask for less at a time."

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._text = not len(shape.records)
        self._fields = Fields({}, frozenset()) if self._text else fields(shape.records)
        self.noun = "lines of text" if self._text else "records"
        self.line_schema = TEXT_SCHEMA if self._text else self._fields.schema()
        self.top = tuple(value for value, _ in self._fields.top)

    def recipes(self, path: str) -> Sequence[JqRecipe]:
        """Recipes for the fields of the records, each of which has run on the first ones; none if jq would stop."""
        if not self._shape.is_well_formed and has_half_pairs(path):
            return ()
        if self._text:
            return recipes_for_text(path)
        return recipes_for(self._fields, path, self._shape.lines)

    def guidance(self, path: str, tokens: int, recipes: Sequence[JqRecipe]) -> str:
        """Advice on using the file; an assistant without a shell can only use the summary."""
        most = ", ".join(f"{value} ({count})" for value, count in self._fields.top)
        grouped = f"Most frequent values of {self._fields.grouping}: {most}.\n" if most else ""
        rest = "line 1 of the file is a header" + (
            "; its `extra` holds what came with the records.\n" if self._shape.extra.get("around") else ".\n"
        )
        advice = (
            f"With shell access, the {len(recipes)} jq recipes above pull out what is needed; put your own words and "
            "numbers into them."
            if recipes
            else "There are no jq recipes: a text in it has half of a surrogate pair, at which jq stops. grep reads it."
        )
        return (
            f"The result was large and is in a JSONL file ({len(self._shape.lines)} {self.noun}, ~{tokens} tokens "
            f"saved).\nFile: {path}\n{grouped}"
            f"{advice}\nWithout one, ask the tool for less at a time.\n"
            f"Records start at line 2; {rest}"
            "Reading the whole file is worth it only when all of it is needed."
        )
