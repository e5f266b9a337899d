"""The forms that a descriptor can have, by how much they say about the file: full, compact or pointer.

They apply to files whose records are not memories. The descriptor of memories always has the standard form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Form = Literal["full", "compact", "pointer"]
MAX_TOKENS_BY_FORM: Mapping[Form, int] = {"full": 440, "compact": 200, "pointer": 45}
"""The forms, each with the usual maximum size of a descriptor in estimated tokens of four characters. A descriptor is
larger only if its path or its field names are long.

A full descriptor has a preview and as many recipes as fit. A compact descriptor has a schema and a recipe. A pointer
has only the path and one sentence. It lacks `summary`, `line_schema` and `jq_recipes`, which LRO-DESC-01 requires.
"""
