"""Escaping of untrusted text for terminals and logs, in such a way that strings in JSON keep their meaning."""

from __future__ import annotations

import re
import unicodedata
from typing import TextIO


class _Escapes(dict[int, str]):
    """Table for `str.translate`: JSON escapes for characters that can move the cursor, or hide or reorder text.

    Evidence contains JSON-RPC lines, which a reader may paste elsewhere. They keep their meaning there, because in a
    JSON string the escape means the same character.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # control, format (bidi overrides, zero width, tags), surrogates, line and paragraph separators; and
        # noncharacters, some of which XML does not allow
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
"""Beginning of a command in the output of a job, which GitHub (``::``, ``##[``), Azure or TeamCity would carry out."""


def one_line(text: str, limit: int | None = None) -> str:
    """Escape *text* for one line. If it is longer than *limit* characters, cut it and append an ellipsis."""
    # cut before escaping, too: the text may be megabytes long
    safe = _escape_log_commands((text if limit is None else text[: limit + 1]).translate(_ONE_LINE))
    if limit is None or len(safe) <= limit:
        return safe
    return safe[: limit - 1].rstrip() + "…"


def lines(text: str) -> list[str]:
    """Split *text* into lines and escape each; tabs are kept."""
    return clean(text.replace("\r\n", "\n")).rstrip("\n").split("\n") if text.strip() else []


def clean(text: str) -> str:
    """Escape *text*; line breaks and tabs are kept."""
    return _escape_log_commands(text.translate(_LINES))


def _escape_log_commands(text: str) -> str:
    return _LOG_COMMAND.sub(lambda m: f"{m['lead']}\\u003a" if m["lead"] is not None else "\\u0023", text)


def escape_unencodable(stream: TextIO) -> None:
    """Let *stream* escape characters that its encoding does not have, instead of raising an error."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
