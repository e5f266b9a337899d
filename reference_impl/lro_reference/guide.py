"""Recipes, top namespaces and guidance for a file of memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lro_reference.results import Records
from lro_spec.messages import JqRecipe
from lro_spec.recipes.render import render

_TOP_NAMESPACES = 5


class MemoryGuide:
    """The guide for memories of one detail level, with the recipe library of an edition."""

    noun = "memories"
    advice_to_narrow = "A smaller limit, a namespace or a lighter detail level narrows the result."

    def __init__(self, records: Records, detail: str, edition: str) -> None:
        self._count, self._detail, self._edition = len(records), detail, edition
        values = (record.get("namespace") for record in records)
        namespaces = Counter(str(name) for name in values if name is not None)
        self.top_values = tuple(name for name, _ in namespaces.most_common(_TOP_NAMESPACES))

    def recipes(self, path: str) -> Sequence[JqRecipe]:
        """The standard recipes of the edition for the file at *path*."""
        return render(self._edition, path, self._detail)

    def guidance(self, path: str, tokens: int, recipes: Sequence[JqRecipe]) -> str:
        """Advice for assistants with and without a shell. Without a shell, they can only use the summary."""
        content = " Content is empty at this level: ask again with detail medium or full to search it." * (
            self._detail == "light"
        )
        return (
            f"Results offloaded to a JSONL file ({self._count} memories, ~{tokens} tokens saved).\n"
            f"File: {path}\n"
            f"Detail level: {self._detail}.{content}\n"
            f"With shell access, the {len(recipes)} jq recipes above pull out what is needed, for example:\n"
            "- browse: recipe #1\n- filter: recipe #2 (namespace) or #3 (keyword in the title)\n"
            "- analyse: recipe #8 (how many in each namespace)\n"
            "Without one, the summary above still says how many memories there are and where they belong.\n"
            "Line 1 of the file is a header with metadata; memories start at line 2. Reading the whole file is worth\n"
            "it only when every memory is needed."
        )
