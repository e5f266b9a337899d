"""Estimates of the number of tokens in a text (section "Threshold Detection").

The specification counts four characters of Latin script as a token, and recommends a real tokenizer for anything else.
Chinese, Japanese and Korean characters and emoji are called wide here; a real tokenizer counts them as more tokens than
other characters. A character is a Unicode code point here. The specification does not say how to round; both estimates
round up, so that only an empty text costs 0 tokens.
"""

from __future__ import annotations

import re

CHARACTERS_PER_TOKEN = 4
"""Number of characters that count as a token in Latin script, by the specification."""
_ASCII = bytes(range(128))
_WIDE = re.compile(
    "["
    "\u1100-\u11ff"  # hangul jamo
    "\u2e80-\u303f"  # radicals, ideographic punctuation
    "\u3040-\u31ff"  # kana, bopomofo, hangul compatibility jamo
    "\u3200-\ua4cf"  # enclosed and unified ideographs, yi
    "\ua960-\ua97f\uac00-\ud7ff"  # hangul
    "\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"  # compatibility and full-width forms
    "\u2600-\u27bf\U0001f000-\U0001faff"  # pictographs, emoji
    "\U00020000-\U0003ffff"  # rarer ideographs
    "]+"
)
"""A run of wide characters."""


MIN_FACTOR, MAX_FACTOR, SLACK_TOKENS = 0.6, 1.8, 64
"""The tolerance for an honest estimate: it is 0.6 to 1.8 times a quarter of the characters, give or take 64 tokens.

On English JSON, a real tokenizer gives a factor of 1.1 to 1.3; on indented JSON, it gives up to 1.5, and on escaped
JSON 1.2. An estimate of characters ÷ 3 is within the tolerance; an estimate of characters ÷ 2 is outside of it.
"""

WIDE_TOKENS = 2.0
"""The largest number of tokens that an honest tokenizer counts for one wide character."""


def estimate_limits(wide_count: int, escape_count: int, other_count: int) -> tuple[int, int]:
    """Return the lowest and the highest number of tokens that an honest estimate of a text can have.

    An honest estimate may count an escape as one character, or as the six characters in which it is written.
    *wide_count* is the number of wide characters, *escape_count* the number of ``\\uXXXX`` escapes, and *other_count*
    the number of all other characters.
    """
    low = MIN_FACTOR * (wide_count + escape_count + other_count) / 4 - SLACK_TOKENS
    high = MAX_FACTOR * other_count / 4 + WIDE_TOKENS * (wide_count + escape_count) + SLACK_TOKENS
    return max(0, int(low)), int(high) + 1


def exceeds_threshold(tokens: float, threshold: float) -> bool:
    """True if a result of *tokens* tokens is offloaded. A result with exactly *threshold* tokens is not offloaded."""
    return tokens > threshold


def characters_estimate(text: str) -> int:
    """Tokens by the specification's heuristic: characters divided by four, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def script_aware_estimate(text: str) -> int:
    """Estimate the tokens of a text, with wide characters counted about as real tokenizers do.

    1.2 wide characters count as a token, and so do four other characters. For ASCII the estimate equals
    `characters_estimate`; for other texts it is never less.
    """
    return tokens_of_counts(len(text), 0 if text.isascii() else wide_characters(text))


def wide_characters(text: str) -> int:
    """Number of Chinese, Japanese, Korean and emoji characters in a text."""
    return wide_characters_in_utf8(text.encode("utf-8", "surrogatepass"))


def characters_in_utf8(text: bytes) -> tuple[int, int]:
    """Return the number of characters in a UTF-8 text, and the number of wide characters among them."""
    if text.isascii():
        return len(text), 0
    # ASCII is removed first, because the regular expression takes forty times as long per character.
    non_ascii = text.translate(None, _ASCII)
    non_ascii_text = non_ascii.decode("utf-8", "surrogatepass")
    return len(text) - len(non_ascii) + len(non_ascii_text), sum(map(len, _WIDE.findall(non_ascii_text)))


def wide_characters_in_utf8(text: bytes) -> int:
    """`wide_characters` of a text in UTF-8."""
    return characters_in_utf8(text)[1]


def tokens_of_counts(characters: int, wide_count: int) -> int:
    """The `script_aware_estimate` of a text that has this number of characters, of which *wide_count* are wide."""
    twelfths = (
        characters - wide_count
    ) * 3 + wide_count * 10  # 1/4 and 1/1.2 of a token, in integers so that rounding up is exact
    return -(-twelfths // 12)
