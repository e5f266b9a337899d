"""Rules by which today's clients and harnesses shorten a tool's result before a model sees it.

The limits are those that were published. They are only applied to a result; the programs themselves are not run here.
`docs/bench.md` has the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownResult:
    """The text of a result as a model receives it."""

    text: str
    is_cut: bool
    is_saved: bool
    """True if the whole result is in a file whose path is in the text."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The rule of one client."""

    name: str
    title: str
    rule: str
    """The rule in words, for reports."""
    apply: Callable[[str, str], ShownResult]
    """Takes a result and the path where it would be saved, and returns what the model would be shown."""


def _uncut(text: str, path: str) -> ShownResult:
    del path
    return ShownResult(text, is_cut=False, is_saved=False)


def _claude_code(text: str, path: str) -> ShownResult:
    if len(text) <= 50_000:
        return _uncut(text, path)
    preview = text.encode()[:2048].decode(errors="ignore")
    notice = (
        f"<persisted-output>\nOutput too large ({len(text):,} characters). Full output saved to: {path}\n"
        f"Use jq for JSON, or read it in portions.\n\nPreview (first 2 KB):\n{preview}\n...\n</persisted-output>"
    )
    return ShownResult(notice, is_cut=True, is_saved=True)


def _codex(text: str, path: str) -> ShownResult:
    del path
    lines = text.splitlines(keepends=True)
    max_bytes, max_lines = 10 * 1024, 256
    data = text.encode()
    if len(data) <= max_bytes and len(lines) <= max_lines:
        return _uncut(text, "")
    head = "".join(lines[: max_lines // 2]).encode()[: max_bytes // 2].decode(errors="ignore")
    tail = "".join(lines[-(max_lines // 2) :]).encode()[-(max_bytes // 2) :].decode(errors="ignore")
    left_out = len(text) - len(head) - len(tail)
    return ShownResult(f"{head}\n[... {left_out} characters omitted ...]\n{tail}", is_cut=True, is_saved=False)


def _deepagents(text: str, path: str) -> ShownResult:
    if len(text) <= 80_000:
        return _uncut(text, path)
    sample = "\n".join(line[:1000] for line in text.splitlines()[:10])
    notice = (
        f"Tool result too large, it was saved in the filesystem at this path: {path}\nRead it with read_file by lines "
        f"(offset, limit), or search it with grep. Here are the first 10 lines:\n{sample}"
    )
    return ShownResult(notice, is_cut=True, is_saved=True)


def _strands(text: str, path: str) -> ShownResult:
    if -(-len(text) // 4) <= 2_500:
        return _uncut(text, path)
    notice = f"[Offloaded: {len(text):,} characters, reference {path}]\n{text[: 1_000 * 4]}\n[end of preview]"
    return ShownResult(notice, is_cut=True, is_saved=True)


def _haystack(text: str, path: str) -> ShownResult:
    if len(text) <= 10_000:
        return _uncut(text, path)
    return ShownResult(f"Result of {len(text):,} characters stored at {path}. Preview: {text[:200]}", True, True)


def _pydantic_ai(text: str, path: str) -> ShownResult:
    if len(text) <= 10_000:
        return _uncut(text, path)
    notice = f"{text[:650]}\n[{len(text) - 1300:,} characters omitted; read_tool_result({path!r})]\n{text[-650:]}"
    return ShownResult(notice, is_cut=True, is_saved=True)


CEILINGS: Mapping[str, Ceiling] = {
    ceiling.name: ceiling
    for ceiling in (
        Ceiling("none", "no ceiling", "the whole result", _uncut),
        Ceiling("claude-code", "Claude Code", "above 50,000 characters: a file, and its first 2 KB", _claude_code),
        Ceiling("codex", "Codex", "above 10 KiB or 256 lines: the middle is cut out, without a file", _codex),
        Ceiling("deepagents", "deepagents", "above 80,000 characters: a file, and 10 lines of 1,000", _deepagents),
        Ceiling("strands", "Strands Agents", "above 2,500 tokens: a reference, and 1,000 tokens", _strands),
        Ceiling("haystack", "Haystack", "above 10,000 characters: a file, and 200 characters", _haystack),
        Ceiling("pydantic-ai", "Pydantic AI Harness", "above 10,000 characters: a handle, head and tail", _pydantic_ai),
    )
}
"""The rules by name."""
