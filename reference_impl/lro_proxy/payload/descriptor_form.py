"""Forms of the descriptor of a file whose records are not memories, by how much they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Form = Literal["full", "compact", "pointer"]
SIZES: Mapping[Form, int] = {"full": 440, "compact": 200, "pointer": 45}
"""The forms, each with the usual maximum size of a descriptor in estimated tokens, which are four characters each; only
long paths or field names exceed it.

A full descriptor has a preview and as many recipes as fit. A compact one has a schema and a recipe. A pointer has the
path and one sentence, without `summary`, `line_schema` and `jq_recipes`, which LRO-DESC-01 requires.
"""
