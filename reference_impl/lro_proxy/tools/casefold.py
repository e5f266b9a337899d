"""Case-insensitive search for words, consistent with jq's ``test(word; "i")``.

A word in ASCII is compared here, unless the text has a character whose case folding is ambiguous, such as ß (ss), the
long s or the Kelvin sign. In such texts, and for words beyond ASCII, jq itself decides. jq cannot run long, because
the word is matched literally.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, cast

_AMBIGUOUS = re.compile("[\u00df\u0130\u0131\u0149\u017f\u01f0\u1e96-\u1e9a\u1e9e\u212a\ufb00-\ufb06]")
"""All characters beyond ASCII that are equal to ASCII characters under some case folding."""
_METACHARACTERS = re.compile(r"([\\^$.|?*+()\[\]{}])")


def finder(word: str) -> Callable[[str], bool]:
    """A function that tells whether a text contains *word*."""
    if not word.isascii():
        return _jq_finder(word)
    lowered, jq_contains = word.lower(), _jq_finder(word)

    def contains(text: str) -> bool:
        if text.isascii() or not _AMBIGUOUS.search(text):
            return lowered in text.lower()
        return jq_contains(text)

    return contains


def literal_pattern(word: str) -> str:
    """The regular expression that matches a word literally."""
    return _METACHARACTERS.sub(r"\\\1", word)


def _jq_finder(word: str) -> Callable[[str], bool]:
    pattern = literal_pattern(word)

    def contains(text: str) -> bool:
        return bool(_program().input_text(json.dumps([text, pattern])).first())

    return contains


@cache
def _program() -> Any:
    import jq

    return cast("Any", jq).compile('. as [$text, $pattern] | $text | test($pattern; "i")')
