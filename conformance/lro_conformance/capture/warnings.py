"""Recognition of a server's warning that a write failed, in any of eleven languages."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable

from lro_conformance.capture.call import Call, CallAfterOthers, CallInContext, ComparedCall
from lro_conformance.capture.records import Record, show, strings_in
from lro_conformance.judging.subjects import hindrance_of

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
"""Beginnings of the English words for a failure; the test vectors of the fallback require one of them, too."""

SHORT_WORDS = ("truncat", "partial", "incomplete", "only", "omitted", "cut", "shortened", "limited to")
"""Beginnings of the English words for a result that is not whole; the test vectors of the fallback require one of them,
or a phrase such as "3 of 8"."""

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

FILING = re.compile(
    r"offload|spill|writ|wrote|\b(sav(e|ing)|stor(e|ing|age)|persist|fil(e|ing)|dis[ck]|space|quota|permission|read-only)"
    r"|director(y|ies)\b|folder|\bE(NOSPC|ACCES|PERM|ROFS|DQUOT|NOTDIR|NOENT|EXIST|ISDIR|IO|MFILE|FBIG)\b",
    re.IGNORECASE,
)
"""English words for writing a file, or for what prevents it."""

_ENGLISH = re.compile(
    r"(the|a|an|no|not|is|are|was|were|be|of|to|too|and|with|for|from|only|could|results?|memor(y|ies)|warning"
    r"|offload\w*|fail\w*|error|truncat\w*|partial\w*|file|writ\w*|directory|large|such)",
    re.IGNORECASE,
)
"""Frequent words of English warnings."""

_WORD = re.compile(r"[^\W\d_]+")
_ERRORS = sorted({os.strerror(number) for number in errno.errorcode}, key=len, reverse=True)
_SYSTEM = re.compile(
    rf"\S*/\S*|\b(?-i:E[A-Z]{{3,}})\b|\berrno\b|\b({'|'.join(map(re.escape, _ERRORS))})", re.IGNORECASE
)
"""Paths, names of errors, and the messages of the operating system."""


def foreign(text: str) -> bool:
    """True if a text is in a language other than English.

    JSON keys are ignored, and so are paths and the operating system's words for an error, whose language the server
    does not choose. A text of a few words counts as English, unless it has many letters beyond ASCII.
    """
    prose = re.sub(r'"[\w-]+"\s*:|\\[nrtu"\\]', " ", text)
    words = _WORD.findall(_SYSTEM.sub(" ", prose))
    foreign_letters = sum(len(w) for w in words if not w.isascii())
    english = sum(_ENGLISH.fullmatch(w) is not None for w in words)
    has_enough_words = len(words) >= 3 and len(_WORD.findall(prose)) >= 5
    return (has_enough_words or foreign_letters >= 8) and 3 * english < len(words)


def mentions_failure(text: str) -> bool:
    """True if a text says that something failed or was truncated, or is not in English."""
    return FAILED.search(text) is not None or SHORT.search(text) is not None or foreign(text)


def true_names(text: str) -> str:
    """The names of fields that are true, as words: `offload_failed` warns as well as a sentence does."""
    return "".join(f" {_NAME_ENDS.sub(' ', name)}" for name in _TRUE.findall(text))


_TRUE = re.compile(r'"(\w+)"\s*:\s*true\b')
_NAME_ENDS = re.compile(r"_|(?<=[a-z])(?=[A-Z])")

SAYS_NOTHING = re.compile(r'"[^"]*"\s*:\s*(?:null\b|false\b|0(?![\d.])|""|\[\s*\]|\{\s*\})')
"""Members that say nothing: null, false, 0, or empty."""


def text_outside_records(call: Call) -> str:
    """Text of a result outside its records."""
    if text_outside_records not in call.computed:
        call.computed[text_outside_records] = _text_outside_records(call)
    return call.computed[text_outside_records]


def _text_outside_records(call: Call) -> str:
    result, records = call.result or {}, call.records or []
    text = show({k: v for k, v in result.items() if k != "content"}, 10_000_000) + "\n" + call.text
    values = dict.fromkeys(strings_in(records))
    text = _STRING.sub(
        lambda found: '""' if _unquoted(found[0]) in values else found[0], text
    )  # removes most of the records
    text = _ESCAPED.sub(lambda found: json.loads(f'"{found[0]}"'), text)
    text = without(text, long_strings(records))
    for value in (v for v in values if len(v) <= WORD):  # only where quoted: the warning may have the same word
        text = text.replace(f'"{value}"', '""')
    return text


WORD = 12
"""Length of the longest string that may be a word."""


def long_strings(records: list[Record]) -> list[str]:
    """The strings of these records that are longer than a word, the longest first."""
    return sorted({v for v in strings_in(records) if len(v) > WORD}, key=len, reverse=True)


def without(text: str, values: Iterable[str]) -> str:
    """A text without these *values*. A value that is part of another one must come after it."""
    for value in values:
        text = text.replace(value, "")
    return text


def _unquoted(string: str) -> str:
    try:
        return json.loads(string) if "\\" in string else string[1:-1]
    except ValueError:  # two quotes in prose
        return string


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ESCAPED = re.compile(r'(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))+')
"""Escapes of a JSON string; libraries differ in which characters they escape."""


MOST_TOKENS = 100_000
"""With this threshold or a higher one, the suite assumes that no result exceeds the threshold. So no file is due, and
no words in a result are taken for the warning of a failed write."""


EDGE = 5
"""In a formatted text, only this many lines at its beginning, and as many at its end, may be a warning."""

NEAR = 300
"""Largest distance, in characters, between the words of one warning in a formatted text."""


def write_failure(call: Call) -> str | None:
    """The words by which a server says that it could not write a result and returns it truncated; None if there are
    none.

    Only inline results are searched for such words, and only if a file may have been due: LRO is not switched off, and
    the threshold is one that results exceed. The words have to mention writing or a file: a result that is one page of
    several, or whose source has failed, is not a failed write. In a formatted text, all these words have to be close
    together in one of the first or last lines, because the lines between are content.
    """
    if write_failure not in call.computed:
        call.computed[write_failure] = _write_failure(call)
    return call.computed[write_failure]


def _write_failure(call: Call) -> str | None:
    threshold = call.settings.get("threshold_tokens")
    is_never_due = isinstance(threshold, int) and threshold >= MOST_TOKENS
    if call.outcome != "inline" or call.settings.get("enabled") is False or is_never_due:
        return None
    text = SAYS_NOTHING.sub("", text_outside_records(call))
    if call.records is not None:
        return _warning(text, len(text))
    return next((found for line in _edges(text) if (found := _warning(line, NEAR)) is not None), None)


def _warning(text: str, reach: int) -> str | None:
    """The phrase that says that something failed, if words within *reach* characters of it say that the result is
    truncated, and either mention writing or are not in English; None if there is no such phrase."""
    names = true_names(text)
    words = text + names
    seen = 0
    for failed in FAILED.finditer(words):
        if seen == len(words):
            break
        seen = min(failed.end() + reach, len(words))
        near = words[max(0, failed.start() - reach) : seen] + names
        if SHORT.search(near) is not None and (FILING.search(near) is not None or foreign(near)):
            return show(next(m[0] for m in _PHRASE.finditer(words) if m.end() > failed.start()).strip(), 160)
    return None


def _edges(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines if len(lines) <= 2 * EDGE else [*lines[:EDGE], *lines[-EDGE:]]


_PHRASE = re.compile(r'[^"{}\[\]\\\n]+')
"""A text between the punctuation of JSON."""


@hindrance_of.register
def _(call: Call) -> str | None:
    # Such a call fails no requirement; the check is not-observed (docs/levels.md).
    warning = write_failure(call)
    return None if warning is None else f"the server says that it could not write the result of {call.tool}: {warning}"


@hindrance_of.register
def _(among: CallInContext | CallAfterOthers | ComparedCall) -> str | None:
    return hindrance_of(among.call)
