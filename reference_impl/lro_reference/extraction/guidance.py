"""What a descriptor says of its file where tools can read it: the tools, and not a shell."""

from __future__ import annotations

from collections.abc import Sequence

from lro_spec.messages import OffloadResponse


def guidance(response: OffloadResponse, noun: str, names: Sequence[str]) -> str:
    """Advice that names the tools there are, by the names that they have in this server."""
    summary = response.summary
    lines = [
        f"Results offloaded to a JSONL file ({summary.count} {noun}, ~{summary.estimated_tokens} tokens saved).",
        f"File: {response.file_path}",
        f"Detail level: {summary.detail}.",
    ]
    if summary.detail == "light" and noun == "memories":
        lines[-1] += " Content is empty at this level: ask again with detail medium or full to search it."
    if "lro_extract" in names:
        lines.append(
            "Read it with the tool lro_extract: it takes this file_path and, as `recipe`, the number of a recipe above."
        )
        lines += _EXAMPLES if noun == "memories" else _OWN
    others = [name for name in names if name != "lro_extract"]
    if others:
        lines.append(f"These tools read it{', too' * ('lro_extract' in names)}: {', '.join(others)}.")
    lines.append("Line 1 of the file is a header with metadata; records start at line 2. No shell is needed.")
    return "\n".join(lines)


_EXAMPLES = (
    "- browse: recipe #1",
    '- filter: recipe #2 with params {"namespace": "…"}, or #3 with params {"keyword": "…"}',
    "- analyse: recipe #8 (how many in each namespace)",
    "- anything else: a jq filter as `query`, such as {id, title}",
)
_OWN = ('- less at a time: params {"n": 20, "skip": 0}', "- anything else: a jq filter as `query`, for each record")
