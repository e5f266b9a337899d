"""Recognition of a server's warning that a file could not be written, in any of eleven languages.

Such a warning says two things: something failed, and the result in the response is not complete.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable

from lro_conformance.capture.call import Call, CallAfterOthers, CallInContext, ComparedCall
from lro_conformance.capture.records import Record, show, strings_in
from lro_conformance.judging.subjects import hindrance_of

FAILURE_WORDS = (
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
"""Beginnings of the English words for a failure. The test vectors of the fallback also require one of them."""

TRUNCATION_WORDS = ("truncat", "partial", "incomplete", "only", "omitted", "cut", "shortened", "limited to")
"""Beginnings of the English words for a result that is not complete. The test vectors of the fallback require one of
them, or a phrase such as "3 of 8"."""

# Besides English: German, Dutch, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese and Korean.
FAILURE = re.compile(
    rf"\b({'|'.join(FAILURE_WORDS)})"
    r"|\b(fehlgeschlagen|gescheitert|fehler|mislukt|échou|échec|erreur|impossib|fall[óoaá]|falh|fallit"
    r"|non riuscit|не удалось|ошибк|сбой)"
    r"|konnten? nicht|kon niet|no se pud|não foi poss|失败|无法|失敗|できません|できなかった|실패|오류",
    re.IGNORECASE,
)
TRUNCATION = re.compile(
    rf"(?<![a-z-])({'|'.join(TRUNCATION_WORDS)})"  # "Read-only file system" is no remark on the result
    r"|\bfirst \d+|\b\d+ (of|out of) \d+"
    r"|\b\d+ ?(von|van|de|des|sur|di|из) ?\d+|gekürzt|unvollständig|abgeschnitten|ingekort|onvolledig|tronqu|partiel"
    r"|incompl|truncad|recortad|parcia|troncat|parzial|усечен|сокращ|неполн|截断|不完整|部分|切り詰め|省略|一部|잘렸|일부",
    re.IGNORECASE,
)

WRITING = re.compile(
    r"offload|spill|writ|wrote|\b(sav(e|ing)|stor(e|ing|age)|persist|fil(e|ing)|dis[ck]|space|quota|permission|read-only)"
    r"|director(y|ies)\b|folder|\bE(NOSPC|ACCES|PERM|ROFS|DQUOT|NOTDIR|NOENT|EXIST|ISDIR|IO|MFILE|FBIG)\b",
    re.IGNORECASE,
)
"""English words for writing a file, and for the causes that prevent it."""

_ENGLISH_WORD = re.compile(
    r"(the|a|an|no|not|is|are|was|were|be|of|to|too|and|with|for|from|only|could|results?|memor(y|ies)|warning"
    r"|offload\w*|fail\w*|error|truncat\w*|partial\w*|file|writ\w*|directory|large|such)",
    re.IGNORECASE,
)
"""Frequent words of English warnings."""

_WORD = re.compile(r"[^\W\d_]+")
_ERROR_MESSAGES = sorted({os.strerror(number) for number in errno.errorcode}, key=len, reverse=True)
_SYSTEM_WORDS = re.compile(
    rf"\S*/\S*|\b(?-i:E[A-Z]{{3,}})\b|\berrno\b|\b({'|'.join(map(re.escape, _ERROR_MESSAGES))})", re.IGNORECASE
)
"""Paths, names of errors, and the messages of the operating system."""


def is_in_foreign_language(text: str) -> bool:
    """True if a text is in a language other than English.

    JSON keys and paths are ignored. The operating system's words for an error are ignored, too, because the server does
    not choose their language. A text of a few words counts as English, unless it has many letters outside ASCII.
    """
    prose = re.sub(r'"[\w-]+"\s*:|\\[nrtu"\\]', " ", text)
    words = _WORD.findall(_SYSTEM_WORDS.sub(" ", prose))
    foreign_letters = sum(len(w) for w in words if not w.isascii())
    english = sum(_ENGLISH_WORD.fullmatch(w) is not None for w in words)
    has_enough_words = len(words) >= 3 and len(_WORD.findall(prose)) >= 5
    return (has_enough_words or foreign_letters >= 8) and 3 * english < len(words)


def mentions_failure(text: str) -> bool:
    """True if a text says that something failed or was truncated, or is not in English."""
    return FAILURE.search(text) is not None or TRUNCATION.search(text) is not None or is_in_foreign_language(text)


def names_of_true_fields(text: str) -> str:
    """The names of the fields whose value is true, split into words. A field such as `offload_failed` is as good a
    warning as a sentence."""
    return "".join(f" {_WORD_BOUNDARY.sub(' ', name)}" for name in _TRUE_FIELD.findall(text))


_TRUE_FIELD = re.compile(r'"(\w+)"\s*:\s*true\b')
_WORD_BOUNDARY = re.compile(r"_|(?<=[a-z])(?=[A-Z])")

EMPTY_MEMBER = re.compile(r'"[^"]*"\s*:\s*(?:null\b|false\b|0(?![\d.])|""|\[\s*\]|\{\s*\})')
"""A member of a JSON object whose value is null, false, 0, or empty. Such members are no warnings."""


def text_outside_records(call: Call) -> str:
    """The text of a result without the texts of its records."""
    if text_outside_records not in call.computed:
        call.computed[text_outside_records] = _text_outside_records(call)
    return call.computed[text_outside_records]


def _text_outside_records(call: Call) -> str:
    result, records = call.result or {}, call.records or []
    text = show({k: v for k, v in result.items() if k != "content"}, 10_000_000) + "\n" + call.text
    values = dict.fromkeys(strings_in(records))
    # This removes most of the records.
    text = _STRING.sub(lambda match: '""' if _unquoted(match[0]) in values else match[0], text)
    text = _ESCAPES.sub(lambda match: json.loads(f'"{match[0]}"'), text)
    text = without_values(text, long_strings(records))
    # A short value is removed only where it is quoted, because the warning may contain the same word.
    for value in (v for v in values if len(v) <= MAX_WORD_LENGTH):
        text = text.replace(f'"{value}"', '""')
    return text


MAX_WORD_LENGTH = 12
"""Largest length, in characters, of a string that may be a single word."""


def long_strings(records: list[Record]) -> list[str]:
    """The strings of these records that are longer than a word (`MAX_WORD_LENGTH`). The longest strings come first."""
    return sorted({v for v in strings_in(records) if len(v) > MAX_WORD_LENGTH}, key=len, reverse=True)


def without_values(text: str, values: Iterable[str]) -> str:
    """The text that is left if these *values* are removed. If one value is a part of another one, the longer value must
    come first."""
    for value in values:
        text = text.replace(value, "")
    return text


def _unquoted(string: str) -> str:
    try:
        return json.loads(string) if "\\" in string else string[1:-1]
    except ValueError:  # The quotation marks are those of prose, not of JSON.
        return string


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPES = re.compile(r'(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))+')
"""Escapes in a JSON string. Libraries differ in the characters that they escape."""


UNREACHED_THRESHOLD = 100_000
"""The suite assumes that no result exceeds a threshold of this number of tokens or more. With such a threshold, the
server does not have to write a file, so no words in a result are taken for the warning of a failed write."""


MAX_EDGE_LINES = 5
"""In a formatted text, a warning is looked for only in this number of lines at the beginning, and in the same number of
lines at the end."""

MAX_DISTANCE = 300
"""Largest distance, in characters, between the words of a single warning in a formatted text."""


def write_failure(call: Call) -> str | None:
    """The words by which a server says that it could not write a result and therefore returns it truncated; None if
    there are no such words.

    Only inline results are searched for such words, and only if the server may have had to write a file. That is so if
    LRO is not switched off, and if the threshold is low enough to be exceeded by results (`UNREACHED_THRESHOLD`).

    The words have to mention writing or a file. Otherwise, a result that is one page of several, or whose source has
    failed, would be taken for a failed write. In a formatted text, all these words have to be close together in one of
    the first or last lines, because the lines in the middle are content.
    """
    if write_failure not in call.computed:
        call.computed[write_failure] = _write_failure(call)
    return call.computed[write_failure]


def _write_failure(call: Call) -> str | None:
    threshold = call.settings.get("threshold_tokens")
    is_never_due = isinstance(threshold, int) and threshold >= UNREACHED_THRESHOLD
    if call.outcome != "inline" or call.settings.get("enabled") is False or is_never_due:
        return None
    text = EMPTY_MEMBER.sub("", text_outside_records(call))
    if call.records is not None:
        return _warning(text, len(text))
    return next((found for line in _edges(text) if (found := _warning(line, MAX_DISTANCE)) is not None), None)


def _warning(text: str, max_distance: int) -> str | None:
    """The phrase by which a text says that something failed; None if there is no such phrase.

    The phrase counts only if the words within *max_distance* characters of it say that the result is truncated, and if
    these words mention writing or are not in English.
    """
    names = names_of_true_fields(text)
    words = text + names
    searched_end = 0
    for failure in FAILURE.finditer(words):
        if searched_end == len(words):
            break
        searched_end = min(failure.end() + max_distance, len(words))
        nearby = words[max(0, failure.start() - max_distance) : searched_end] + names
        if TRUNCATION.search(nearby) is not None and (
            WRITING.search(nearby) is not None or is_in_foreign_language(nearby)
        ):
            return show(next(m[0] for m in _PHRASE.finditer(words) if m.end() > failure.start()).strip(), 160)
    return None


def _edges(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines if len(lines) <= 2 * MAX_EDGE_LINES else [*lines[:MAX_EDGE_LINES], *lines[-MAX_EDGE_LINES:]]


_PHRASE = re.compile(r'[^"{}\[\]\\\n]+')
"""A text without the punctuation of JSON inside it."""


@hindrance_of.register
def _(call: Call) -> str | None:
    # Such a call does not fail its requirement. The verdict of the check is not-observed (docs/levels.md).
    warning = write_failure(call)
    return None if warning is None else f"the server says that it could not write the result of {call.tool}: {warning}"


@hindrance_of.register
def _(among: CallInContext | CallAfterOthers | ComparedCall) -> str | None:
    return hindrance_of(among.call)
