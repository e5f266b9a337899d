"""Recipes for the fields of records, each run on a sample of them before it is offered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, cast

from lro_proxy.payload.fields import Fields
from lro_spec.messages import JqRecipe
from lro_spec.recipes.render import quote

_MOST = 10
_SAMPLE_LINES = 16
_SAMPLE_BYTES = 1 << 15
_CHUNK = 1 << 20
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""An escape in JSON; its group is half of a surrogate pair."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEYWORDS = frozenset(
    ("and", "or", "not", "if", "then", "elif", "else", "end", "as", "def", "reduce", "foreach", "try", "catch", "label")
) | {"import", "include", "__loc__"}

PLACEHOLDER = "word"
"""The word that recipes look for, which a user replaces."""
Draft = tuple[str, str, str]
"""A recipe: its description, jq's options, and the program."""


def _for_text() -> list[Draft]:
    """Recipes for lines of text, records of ``n`` and ``text``."""
    return [
        ("The first 40 lines", "-r", "select(.n <= 40) | .text"),
        ("Lines 100 to 150", "-r", "select(.n >= 100 and .n <= 150) | .text"),
        ("Lines with a word, with their numbers", "-r", 'select(.text | test("word"; "i")) | "\\(.n): \\(.text)"'),
        ("How many lines have a word", "-s", 'map(select(.text | test("word"; "i"))) | length'),
        ("The last 20 lines", "-rs", ".[-20:][] | .text"),
        ("The longest lines, by number", "-sc", "sort_by(-(.text | length)) | .[:5][] | {n, length: (.text | length)}"),
        ("The first 200 characters of each line", "-r", '"\\(.n): \\(.text[:200])"'),
        ("The complete original text", "-r", ".text"),
    ]


def _for_records(fields: Fields) -> list[Draft]:
    """Recipes for records with fields."""
    drafts: list[Draft] = [("The first three records", "-sc", ".[:3][]")]
    if len(fields.short) > 1:
        names = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {_path(name)}" for name in fields.short)
        drafts.append(("The short fields of every record", "-c", f"{{{names}}}"))
        cells = ", ".join(_path(name) for name in fields.short)
        drafts.append(("The same as a table", "-r", f"[{cells}] | @tsv"))
    if fields.grouping is not None and fields.top:
        path, value = _path(fields.grouping), json.dumps(fields.top[0][0], ensure_ascii=False)
        drafts.append((f"Records by their {fields.grouping}", "-c", f"select({path} == {value})"))
        counted = f"group_by({path}) | map({{value: .[0]{path}, count: length}}) | sort_by(-.count)"
        drafts.append((f"How many records of each {fields.grouping}", "-sc", f"{counted} | .[]"))
    if fields.reading is not None:
        path = _path(fields.reading)
        text = path if fields.is_only(fields.reading, "string") else f"({path} | tostring)"
        drafts.append((f"Records with a word in {fields.reading}", "-c", f'select({text} | test("word"; "i"))'))
    if fields.weighing is not None:
        path = _path(fields.weighing)
        numbers = "" if fields.is_only(fields.weighing, "integer", "number") else f"map(select({path} | numbers)) | "
        drafts.append((f"Highest {fields.weighing} first", "-sc", f"{numbers}sort_by(-{path}) | .[:10][]"))
        figures = "{count: length, min: min, max: max, mean: (if length > 0 then add / length else null end)}"
        drafts.append((f"{fields.weighing}: least, most, mean", "-sc", f"map({path} | numbers) | {figures}"))
    lists = next((n for n, types in fields.types.items() if types <= {"array", "null"} and "array" in types), None)
    if lists is not None:
        drafts.append((f"Records that have any {lists}", "-c", f"select({_path(lists)} | length > 0)"))
    drafts.append(("Records with a word anywhere", "-c", 'select(tostring | test("word"; "i"))'))
    drafts.append(
        ("How many records have which field", "-sc", "map(keys_unsorted[]) | group_by(.) | map({(.[0]): length}) | add")
    )
    return drafts


def recipes_for(fields: Fields, path: str, lines: Iterable[bytes]) -> list[JqRecipe]:
    """The first ten recipes that run on the first records without an error, as commands on the file."""
    sample = _sample(lines)
    return _commands((draft for draft in _for_records(fields) if _runs(draft[1], draft[2], sample)), path)


def recipes_for_text(path: str) -> list[JqRecipe]:
    """Recipes for lines of text, as commands on the file; since all such records are alike, they are run only once."""
    return _commands(_running_for_text(), path)


def has_half_pairs(path: str) -> bool:
    """True if a record of the file has half of a surrogate pair, at which jq stops."""
    with open(path, "rb") as file:
        file.readline()
        while chunk := file.read(_CHUNK) + file.readline():
            if (b"\\ud" in chunk or b"\\uD" in chunk) and any(found[1] for found in _ESCAPE.finditer(chunk)):
                return True
    return False


def _commands(drafts: Iterable[Draft], path: str) -> list[JqRecipe]:
    word = quote(path)
    return [
        JqRecipe(what, f"tail -n +2 {word} | jq {options} {quote(program)}")
        for what, options, program in islice(drafts, _MOST)
    ]


@cache
def _running_for_text() -> tuple[Draft, ...]:
    sample = ['{"n":1,"text":"a word"}', '{"n":2,"text":""}']
    return tuple(draft for draft in _for_text() if _runs(draft[1], draft[2], sample))


def _sample(lines: Iterable[bytes]) -> list[str]:
    sample: list[str] = []
    room = _SAMPLE_BYTES
    for line in islice(lines, _SAMPLE_LINES):
        room -= len(line)
        if room < 0 and sample:
            break
        sample.append(line.decode())
    return sample


def _runs(options: str, program: str, sample: Sequence[str]) -> bool:
    try:
        compiled = _compiled(program)
        text = f"[{','.join(sample)}]" if "s" in options else "\n".join(sample)
        compiled.input_text(text).all()
    except (ValueError, RuntimeError, MemoryError):
        return False
    return True


@lru_cache(maxsize=256)
def _compiled(program: str) -> Any:
    import jq

    return cast("Any", jq).compile(program)


def _path(name: str) -> str:
    if _IDENTIFIER.fullmatch(name) and name not in _KEYWORDS:
        return f".{name}"
    return f".[{json.dumps(name, ensure_ascii=False)}]"
