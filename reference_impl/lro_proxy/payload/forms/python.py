"""Python's own notation of values (``repr``), as database servers write rows: ``[{'id': 1, 'name': None}, …]``."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from lro_proxy.payload import array as arrays
from lro_proxy.payload.array import Array
from lro_proxy.payload.forms.form import Data, decoded, is_rebuilt
from lro_spec.jsonl import lossless

_TOKEN = re.compile(r"'((?:[^'\\]|\\.)*)'|(\"(?:[^\"\\]|\\.)*\")|\b(True|False|None)\b|([({\[])|(,?\))", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BEGINNING = re.compile(r"\[(?:[{(]|\[)['\"\d(\[]|\{'")


def begins(beginning: str) -> bool:
    """True if a text begins like a list of rows, or like a dictionary."""
    return _BEGINNING.match(beginning) is not None


def read(text: Data) -> tuple[Any, bool] | None:
    """The value of a text that Python has written, and whether its rows are tuples; None for any other text."""
    code = decoded(text, 0, len(text))
    are_tuples = code.startswith("[(")
    json_text = _TOKEN.sub(_as_json, code).encode("utf-8", "surrogatepass")
    try:
        value = arrays.parse(json_text)
    except lossless.InexactError:
        return None
    parts = value.texts() if isinstance(value, Array) else [json_text]
    return (value, are_tuples) if is_rebuilt(text, _spelled(parts, code[0], code[-1], are_tuples=are_tuples)) else None


def _spelled(parts: Iterable[bytes], opening: str, closing: str, *, are_tuples: bool) -> Iterator[str]:
    """Python's notation of a value, piece by piece: its *parts*, which are given as JSON, between two brackets."""
    prefix = opening
    for part in parts:
        yield prefix + spelling(json.loads(part), are_tuples=are_tuples)[1:-1]
        prefix = ", "
    yield closing


def spelling(value: Any, *, are_tuples: bool) -> str:
    """Python's notation of a value. With *are_tuples*, the value is a list whose items are written as tuples."""
    return repr([tuple(cast("list[Any]", row)) for row in value] if are_tuples else value)


def _as_json(token: re.Match[str]) -> str:
    """The JSON for a match of `_TOKEN`; a question mark, which is not JSON, for a string that Python cannot read."""
    single, _, word, opening, closing = token.groups()
    if word is not None:
        return _WORDS[word]
    if opening is not None:
        return "[" if opening == "(" else opening
    if closing is not None:
        return "]"
    if single is not None and "\\" not in single:
        return json.dumps(single, ensure_ascii=False)
    try:
        return json.dumps(ast.literal_eval(token[0]), ensure_ascii=False)
    except (ValueError, SyntaxError):
        return "?"
