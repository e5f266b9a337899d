"""Recognition of a warning of a failed write in any of a dozen languages."""

from __future__ import annotations

import re

FAILED_WORDS = (
    "fail",
    "error",
    "could not",
    "couldn't",
    "cannot",
    "can't",
    "unable",
    "impossible",
    "unavailable",
    *(f"{no} {done}" for no in ("not", "not be") for done in ("written", "saved", "offloaded", "possible")),
)
"""Beginnings of the English words for a failure; the vectors of the fallback ask for one of them, too."""

SHORT_WORDS = ("truncat", "partial", "incomplete", "only", "omitted", "cut", "shortened", "limited to")
"""Beginnings of the English words for a result that is not whole; the vectors ask for one of them, or for "3 of 8"."""

# Besides English: German, Dutch, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese and Korean.
FAILED = re.compile(
    rf"\b({'|'.join(FAILED_WORDS)})"
    r"|\b(fehlgeschlagen|gescheitert|fehler|mislukt|échou|échec|erreur|impossib|fall[óoaá]|falh|fallit"
    r"|non riuscit|не удалось|ошибк|сбой)"
    r"|konnten? nicht|kon niet|no se pud|não foi poss|失败|无法|失敗|できません|できなかった|실패|오류",
    re.IGNORECASE,
)
SHORT = re.compile(
    rf"(?<![a-z-])({'|'.join(SHORT_WORDS)})"  # the error "Read-only file system" says nothing of the result
    r"|\bfirst \d+|\b\d+ (of|out of) \d+"
    r"|\b\d+ ?(von|van|de|des|sur|di|из) ?\d+|gekürzt|unvollständig|abgeschnitten|ingekort|onvolledig|tronqu|partiel"
    r"|incompl|truncad|recortad|parcia|troncat|parzial|усечен|сокращ|неполн|截断|不完整|部分|切り詰め|省略|一部|잘렸|일부",
    re.IGNORECASE,
)

_ENGLISH = re.compile(
    r"(the|a|an|no|not|is|are|was|were|be|of|to|too|and|with|for|from|only|could|results?|memor(y|ies)|warning"
    r"|offload\w*|fail\w*|error|truncat\w*|partial\w*|file|writ\w*|directory|large|such)",
    re.IGNORECASE,
)
"""Frequent words of English warnings."""


def foreign(text: str) -> bool:
    """True if a text is in a language other than English; JSON keys are ignored."""
    said = re.sub(r'"[\w-]+"\s*:|\\[nrtu"\\]', " ", text)
    words = re.findall(r"[^\W\d_]+", said)
    wide = sum(len(w) for w in words if not w.isascii())
    english = sum(_ENGLISH.fullmatch(w) is not None for w in words)
    return (len(words) >= 5 or wide >= 8) and 3 * english < len(words)


def mentions_failure(text: str) -> bool:
    """True if a text says that something failed or was truncated, or is in a language that the suite cannot read."""
    return FAILED.search(text) is not None or SHORT.search(text) is not None or foreign(text)
