"""Text that a server wrote, made harmless for a terminal without changing what it means as JSON."""

from __future__ import annotations

import re
import unicodedata
from typing import TextIO


class _Escapes(dict[int, str]):
    """For `str.translate`: characters that can move a cursor, hide or reorder text become their JSON escapes.

    JSON escapes, because the evidence is JSON-RPC lines that a reader pastes: inside of a JSON string the escaped
    character is still the same one.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # control, format (bidi overrides, zero width, tags), surrogate, line and paragraph separators; and what is
        # no character at all and no XML may hold
        unsafe = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or _is_noncharacter(code)
        self[code] = _json_escape(code) if unsafe else char
        return self[code]


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _json_escape(code: int) -> str:
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


_ONE_LINE = _Escapes({0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})
_LINES = _Escapes({0x0A: "\n", 0x09: "\t"})

_LOG_COMMAND = re.compile(r"^(?P<lead>[^\S\n]*):(?=:)|#(?=#\[|#vso\[|#teamcity\[)", re.MULTILINE)
"""What the machines of GitHub (``::``, ``##[``), Azure and TeamCity obey when it is printed into a log."""


def one_line(text: str, limit: int | None = None) -> str:
    """*text* on one line, harmless; cut to *limit* characters with an ellipsis where it is longer."""
    # cut before escaping too: a server can send megabytes where a reader wants forty characters
    clean = _disarmed((text if limit is None else text[: limit + 1]).translate(_ONE_LINE))
    if limit is None or len(clean) <= limit:
        return clean
    return clean[: limit - 1].rstrip() + "…"


def lines(text: str) -> list[str]:
    """The lines of *text*, each harmless; tabs and line breaks keep their meaning, everything else is escaped."""
    return clean(text.replace("\r\n", "\n")).rstrip("\n").split("\n") if text.strip() else []


def clean(text: str) -> str:
    """*text* harmless, with its line breaks and tabs."""
    return _disarmed(text.translate(_LINES))


def _disarmed(text: str) -> str:
    return _LOG_COMMAND.sub(lambda m: f"{m['lead']}\\u003a" if m["lead"] is not None else "\\u0023", text)


def tolerate(stream: TextIO) -> None:
    """A locale without a character must not end a command: what it cannot show is escaped."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
