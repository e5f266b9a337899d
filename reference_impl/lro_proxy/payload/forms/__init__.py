"""Forms of text: how each is recognised, and the records that a text becomes.

Each form is a value of `lro_proxy.payload.forms.form.Form`. They are tried in order, and the first one that can rebuild
the text is used. JSON, JSON Lines and Python's notation of values are not in this list. `lro_proxy.payload.records`
tries them first; JSON and Python's values become records like structured content (`lro_proxy.payload.forms.values`).
"""

from __future__ import annotations

from lro_proxy.payload.forms import lines, pieces, python, stanzas, tables
from lro_proxy.payload.forms.form import (
    BEGINNING_BYTES,
    FEW_LINES,
    LONG_BEGINNING_BYTES,
    MAX_BYTES_AT_ONCE,
    Data,
    Form,
    PayloadRecords,
)

FORMS: tuple[Form, ...] = (
    lines.DIFF,
    tables.MARKDOWN,
    tables.HTML,
    tables.SEPARATED,
    lines.LOG,
    lines.HITS,
    lines.HEADED_HITS,
    lines.OUTLINE,
    pieces.DEFINITIONS,
    pieces.SECTIONS,
    pieces.ELEMENTS,
    pieces.ITEMS,
    stanzas.STANZAS,
)


def may_begin(beginning: str) -> bool:
    """True if whole lines at the beginning of a text may begin JSON, Python's notation, or one of the forms."""
    first = beginning.lstrip()[:1]
    return first in ("", "[", "{") or python.begins(beginning) or any(form.begins(beginning) for form in FORMS)


def of_text(text: Data) -> PayloadRecords | None:
    """The records of a UTF-8 text by the first form that fits it; None if no form does."""
    beginning = _beginning(text)
    usable = (form for form in FORMS if form.is_streamed or len(text) <= MAX_BYTES_AT_ONCE)
    candidates = (form.read(text) for form in usable if form.begins(beginning))
    return next((payload for payload in candidates if payload is not None), None)


def _beginning(text: Data) -> str:
    """Whole lines at the beginning of a text."""
    size = BEGINNING_BYTES if text.count(b"\n", 0, BEGINNING_BYTES) > FEW_LINES else LONG_BEGINNING_BYTES
    if len(text) <= size:
        return text.decode("utf-8", "replace")
    return (text[:size].rpartition(b"\n")[0] or text[:size]).decode("utf-8", "replace")
