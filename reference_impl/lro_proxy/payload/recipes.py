"""Recipes for the fields of records: each is tried before it is offered, and its output is bounded.

A recipe is tried on all records of a small file, and on the first records of a larger one, because jq takes half a
second or more for a megabyte. Its output has a maximum number of rows, each with a maximum length. So the output is
bounded on any file, whatever is in the records that the recipe was not tried on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from lro_proxy.payload.fields import Fields, Path, is_name
from lro_spec.jsonl import lossless
from lro_spec.messages import JqRecipe
from lro_spec.recipes.render import quote
from lro_spec.tokens import CHARACTERS_PER_TOKEN, script_aware_estimate

LEAST_BOUND = 1000
"""Tokens that a recipe may return at any threshold."""
_SHARE = 5
"""A recipe may return the threshold divided by this, if that is more than `LEAST_BOUND`."""
_SAMPLE_BYTES = 1 << 16
"""Recipes are tried on all records if these have at most this many bytes together."""
_SAMPLE_LINES = 60
"""Maximum number of records on which recipes are tried in a larger file."""
_PROGRAMS = 16
"""Number of compiled programs that are kept, each of 200 KB."""
_CHUNK = 1 << 20
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""An escape in JSON; its group is half of a surrogate pair."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEYWORDS = frozenset(
    ("and", "or", "not", "if", "then", "elif", "else", "end", "as", "def", "reduce", "foreach", "try", "catch", "label")
) | {"import", "include", "__loc__"}

PLACEHOLDER = "word"
"""The word that recipes look for, which a user replaces."""
_SEARCH = f'test("{PLACEHOLDER}"; "i")'
_SEARCHES = {
    _SEARCH: 'test($pattern; "i")',
    f'match(".{{0,80}}{PLACEHOLDER}.{{0,80}}"; "gi")': 'match(".{0,80}" + $pattern + ".{0,80}"; "gi")',
}
"""Calls that look for the placeholder, and the same with a variable in its place."""
_ROWS, _TOP, _GROUPS = 20, 10, 20
"""Maximum number of rows of most recipes, of the one for records with the highest values, and of counts by group."""
_WIDEST = 200
"""Maximum number of characters of a row, except where a recipe returns a single line or record."""
_CELL = 60
"""Maximum number of characters of a heading, of a cell with the text that describes a record best, of the value that a
group has in common, and of a field's name in a description."""
_WIDE_PER_TOKEN = 1.2
"""Characters per token where all characters are wide: Chinese, Japanese, Korean and emoji."""
_OUTLINE = re.compile(r"^(#{1,6} |diff --git |\s*((async|export|public|pub) )?(def|class|function|func|fn) )")


@dataclass(frozen=True, slots=True)
class Bound:
    """The size that the output of a recipe may have."""

    tokens: int
    per_token: float
    """Characters per token, with which the length of rows is computed."""

    @classmethod
    def of(cls, threshold: int, wide: int) -> Bound:
        """The bound at a threshold; *wide* is the number of Chinese, Japanese, Korean and emoji characters in
        the file."""
        tokens = max(LEAST_BOUND, threshold // _SHARE)
        # If they are few, their extra tokens are subtracted once; if not, every row may consist of them.
        extra = round(wide * (1 / _WIDE_PER_TOKEN - 1 / CHARACTERS_PER_TOKEN))
        if extra < tokens // 4:
            return cls(tokens - extra, CHARACTERS_PER_TOKEN)
        return cls(tokens, _WIDE_PER_TOKEN)

    def width(self, rows: int) -> int:
        """Maximum number of characters of each of *rows* rows, without its line feed."""
        return int((self.tokens - 1) * self.per_token / rows) - 1


@dataclass(frozen=True, slots=True)
class _Draft:
    """A recipe without the path."""

    what: str
    options: str
    program: str
    lines: tuple[str, int] | None = None
    """The command that chooses lines after the header, ``head`` or ``tail``, and their number."""
    most: str | None = None
    """An expression for as many rows as the recipe can return, so that its size can be stated as "up to"; the word of a
    search, for instance, may not occur in the sample. None if the size of the output on the sample is stated."""
    value: str | None = None
    """JSON of the value that records are compared with."""
    columns: str = ""
    """The fields in the output, for a reader who does not read the program."""

    def recipe(self, path: str, cost: str, *, is_brief: bool) -> JqRecipe:
        """The recipe with what it costs; a brief one does not repeat the columns."""
        columns = "" if is_brief or not self.columns else f": {self.columns}"
        return JqRecipe(f"{self.what}{columns} ({cost})", self.command(path))

    def command(self, path: str) -> str:
        """The recipe as a command on the file."""
        chosen = "" if self.lines is None else f" | {self.lines[0]} -n {self.lines[1]}"
        return f"tail -n +2 {quote(path)}{chosen} | jq {self.options} {quote(self.program)}"

    def trials(self, number: int) -> tuple[str, str | None]:
        """The program and `most` as expressions over the records of a sample, ``$all``.

        The value to compare with is written as ``$values[number]``, so that the recipes of results that
        differ only in this value are one program, which is compiled once.
        """
        if self.value is None:
            return self._trial(), self.most
        literal, variable = f"== {self.value})", f"== $values[{number}])"
        return self._trial().replace(literal, variable), self.most and self.most.replace(literal, variable)

    def _trial(self) -> str:
        if "n" in self.options:
            return f"null | {self.program}"
        if "s" in self.options:
            return f"$all | {self.program}"
        match self.lines:
            case None:
                chosen = ""
            case "head", number:
                chosen = f"[:{number}]"
            case _, number:
                chosen = f"[-{number}:]"
        return f"$all{chosen}[] | {self.program}"


def with_inputs(program: str) -> str:
    """The program, which reads `inputs`, changed to run on the array of all records: libjq itself has no inputs."""
    return f". as $all | def inputs: $all[]; null | {program}"


def with_pattern(program: str) -> str | None:
    """The program of a recipe with ``$pattern`` in place of the placeholder word; None if it has no placeholder."""
    for search, general in _SEARCHES.items():
        if search in program:
            return program.replace(search, general)
    return None


_COUNTED = re.compile(r"(?<=limit\()\d+(?=; inputs)|(?<=\[:)\d+(?=\]\[\])")


def rows_of(program: str) -> int | None:
    """The largest number of rows that the program of a recipe returns, if it states one."""
    found = _COUNTED.search(program)
    return None if found is None else int(found[0])


def with_rows(program: str, rows: int) -> str:
    """The program of a recipe, changed to return at most *rows* rows."""
    return _COUNTED.sub(str(rows), program)


# --- drafts


def _for_text(texts: Sequence[str], first: Mapping[str, Any], bound: Bound) -> Iterator[_Draft]:
    """Recipes for lines of text, records of ``n`` and ``text``, the most useful first."""
    width = min(_WIDEST, bound.width(_ROWS))
    row = f'"\\(.n): \\(.text)" | .[:{width}]'
    if max(map(len, texts), default=0) > 2 * _WIDEST:
        around = f'match(".{{0,80}}{PLACEHOLDER}.{{0,80}}"; "gi") | .string'
        yield _Draft(
            f"Text around a word, first {_ROWS} places",
            "-rn",
            f'limit({_ROWS}; inputs | .n as $n | .text | {around} | "\\($n): \\(.)" | .[:{width}])',
            most=f"limit({_ROWS}; $all[] | {row})",
        )
        part = " and .part == 1" if "part" in first else ""
        yield _Draft(f"Line 1{', part 1' * bool(part)}", "-r", f"select(.n == 1{part}) | .text[:{bound.width(1)}]")
    yield _Draft(
        f"Lines with a word, first {_ROWS}",
        "-rn",
        f"limit({_ROWS}; inputs | select(.text | {_SEARCH}) | {row})",
        most=f"limit({_ROWS}; $all[] | {row})",
    )
    rows = 2 * _ROWS
    narrow = min(_WIDEST, bound.width(rows))
    if any(map(_OUTLINE.match, texts)):
        line = f'"\\(.n): \\(.text)" | .[:{min(_CELL, narrow)}]'
        yield _Draft(
            f"Headings and definitions, first {rows}",
            "-rn",
            f"limit({rows}; inputs | select(.text | test({_dumped(_OUTLINE.pattern)})) | {line})",
            most=f"limit({rows}; $all[] | {line})",
        )
    yield _Draft(
        f"Lines 100 to {99 + rows}",
        "-rn",
        f"limit({rows}; inputs | select(.n >= 100 and .n < {100 + rows}) | .text[:{narrow}])",
        most=f"limit({rows}; $all[] | .text[:{narrow}])",
    )
    yield _Draft("How many lines have a word", "-n", f"[inputs | select(.text | {_SEARCH})] | length")
    yield _Draft(f"The last {_ROWS} lines", "-r", f".text[:{width}]", ("tail", _ROWS))


def _for_records(fields: Fields, first: Mapping[str, Any], bound: Bound) -> Iterator[_Draft]:
    """Recipes for records with fields, the most useful first; *first* is the first record."""
    table, named = _table(fields, bound, _ROWS)
    anywhere = f"select(tostring | {_SEARCH})"
    yield _Draft(
        f"Records with a word, first {_ROWS}",
        "-rn",
        f"limit({_ROWS}; inputs | {anywhere} | {table})",
        most=f"limit({_ROWS}; $all[] | {table})",
        columns=named,
    )
    if fields.pages is not None:
        yield _lines_within(fields, fields.pages, bound)
    if fields.grouping is not None:
        yield _counted(fields.grouping, bound)
    if fields.weighing is not None:
        row, number = _table(fields, bound, _TOP)[0], _number(fields, fields.weighing)
        yield _Draft(
            f"The {_TOP} records with the highest {_display(fields.weighing)}",
            "-rs",
            f"map(select({number})) | sort_by(-({number}))[:{_TOP}][] | {row}",
        )
    if fields.identity is not None:
        yield _in_full(fields, first, bound)
    if fields.grouping is not None and (value := _member(first, fields.grouping)) is not None:
        yield _of_group(fields, fields.grouping, value, first, bound)
    if fields.weighing is not None:
        figures = "{count: length, sum: add, mean: (add / length), min: min, max: max}"
        yield _Draft(
            f"{_display(fields.weighing)}: count, sum, mean, min, max",
            "-rs",
            f"map({_number(fields, fields.weighing)}) | select(length > 0) | {figures} | tostring | .[:{_WIDEST}]",
        )
    if fields.identity is None:
        yield _in_full(fields, first, bound)
    yield _Draft(f"The first {_ROWS}", "-r", table, ("head", _ROWS), columns=named)
    yield _Draft("How many records have a word", "-n", f"[inputs | {anywhere}] | length")


def _of_group(fields: Fields, path: Path, value: Any, first: Mapping[str, Any], bound: Bound) -> _Draft:
    """A recipe for the records that have the first record's *value*, with the columns of that record."""
    own = replace(fields, columns=tuple(column for column in fields.columns if column[0] in first))
    row, named = _table(own, bound, _ROWS)
    wanted = _dumped(value)
    return _Draft(
        f"Records of one {_display(path)}, first {_ROWS}",
        "-rn",
        f"limit({_ROWS}; inputs | select({_jq(path)} == {wanted}) | {row})",
        most=f"limit({_ROWS}; $all[] | select({_jq(path)} == {wanted}) | {row})",
        value=wanted,
        columns=named if own != fields else "",
    )


def _lines_within(fields: Fields, pages: Path, bound: Bound) -> _Draft:
    columns = [path for path in fields.columns if path != pages]
    beside = sorted(columns, key=lambda path: (not is_name(path), path != ("line",)))[:2]
    cells = ", ".join([*(_cell(fields, path) for path in beside), "$line"])
    row = f"[{cells}] | @tsv | .[:{min(_WIDEST, bound.width(_ROWS))}]"
    lines = f'({_jq(pages)} // "" | tostring | split("\\n")[]) as $line'
    return _Draft(
        f"Lines of {_display(pages)} with a word, first {_ROWS}, after {', '.join(map(_display, beside)) or 'nothing'}",
        "-rn",
        f"limit({_ROWS}; inputs | {lines} | select($line | {_SEARCH}) | {row})",
        most=f"limit({_ROWS}; $all[] | {lines} | {row})",
    )


def _counted(path: Path, bound: Bound) -> _Draft:
    at, width = _jq(path), min(_CELL, bound.width(_GROUPS) - len("1000000\t"))
    first = f".[0]{at[1:] if at.startswith('.[') else at}"
    return _Draft(
        f"How many of each {_display(path)}, most frequent {_GROUPS}",
        "-rs",
        f'group_by({at}) | sort_by(-length)[:{_GROUPS}][] | "\\(length)\\t\\({first} | tostring | .[:{width}])"',
    )


def _in_full(fields: Fields, first: Mapping[str, Any], bound: Bound) -> _Draft:
    whole = f"{_SHORTENED * fields.has_long_values}tostring | .[:{bound.width(1)}]"
    if fields.identity is None:
        return _Draft("The first record in full", "-r", whole, ("head", 1))
    value = _dumped(_member(first, fields.identity))
    found = f"first(inputs | select({_jq(fields.identity)} == {value}))"
    return _Draft(f"One record in full, by {_display(fields.identity)}", "-rn", f"{found} | {whole}", value=value)


def _table(fields: Fields, bound: Bound, rows: int) -> tuple[str, str]:
    """Two texts: the expression for one row of a table of *rows* rows that stays within the bound, and the names of its
    columns."""
    width = min(_WIDEST, bound.width(rows))
    if not fields.columns:
        return f"tostring | .[:{width}]", "their beginning"
    cells = ", ".join(_cell(fields, path) for path in fields.columns)
    return f"[{cells}] | @tsv | .[:{width}]", ", ".join(map(_display, fields.columns))


def _cell(fields: Fields, path: Path) -> str:
    if fields.is_only(path, "integer", "number", "boolean", "null"):
        return _jq(path)
    if fields.is_only(path, "string", "null"):
        return f"{_jq(path)}[:{_CELL}]" if path == fields.reading else _jq(path)
    return f"({_jq(path)} | tostring)"


def _number(fields: Fields, path: Path) -> str:
    kind = "numbers" if fields.is_only(path, "integer", "number", "null") else "tonumber?"
    return f"{_jq(path)} | {kind}"


_SHORTENED = (
    'walk(if type == "string" and length > 200 and (test("\\\\s") | not) then "\\(.[:20])… (\\(length) characters)" '
    "else . end) | "
)
"""The beginning of a program, which shortens long texts without a blank, such as base64."""


def _member(record: Mapping[str, Any], path: Path) -> Any:
    value: Any = record
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


def _jq(path: Path) -> str:
    steps = [
        f".{name}" if _IDENTIFIER.fullmatch(name) and name not in _KEYWORDS else f"[{_dumped(name)}]" for name in path
    ]
    text = "".join(steps)
    return text if text[0] == "." else f".{text}"


def _dumped(value: Any) -> str:
    return lossless.dump(value).decode()


def _display(path: Path) -> str:
    return ".".join(path)[:_CELL]


# --- what is offered


def recipes_for(
    fields: Fields | None,
    path: str,
    lines: Iterable[bytes],
    bound: Bound,
    *,
    room: int,
    least: int,
    free: int = 0,
    is_brief: bool = False,
) -> list[JqRecipe]:
    """Recipes that run on the sample of records without an error, as commands on the file, the most useful first.

    The first *least* are returned, and as many more as fit into *room* characters; *free* characters of each recipe,
    those of a long path, do not count. *fields* is None for lines of text. *is_brief*: descriptions do not name the
    columns.
    """
    sample, is_all = _sample(lines)
    inputs = "$all[]" if is_all else f"$all[:{_ROWS}][]"
    records = [lossless.parse(line) for line in sample[:1]] if fields else list(map(json.loads, sample))
    first: Mapping[str, Any] = records[0] if records else {}
    drafts = list(
        _for_text([str(record["text"]) for record in records], first, bound)
        if fields is None
        else _for_records(fields, first, bound)
    )
    offered: list[JqRecipe] = []
    while drafts:
        tried = _fitting(drafts, path, room, least - len(offered), free, is_brief=is_brief)
        for draft, output in zip(drafts[:tried], _outputs(drafts[:tried], sample, inputs), strict=True):
            if output is None:
                continue
            recipe = draft.recipe(path, _cost(draft, output), is_brief=is_brief)
            room -= _size(recipe) - free
            if room < 0 and len(offered) >= least:
                return offered
            offered.append(recipe)
        del drafts[:tried]
    return offered


def _fitting(drafts: Sequence[_Draft], path: str, room: int, least: int, free: int, *, is_brief: bool) -> int:
    """The number of drafts to try at once: those that may fit, and the first one that does not."""
    for number, draft in enumerate(drafts, 1):
        room -= _size(draft.recipe(path, "about 10 tokens", is_brief=is_brief)) - free
        if room < 0 and number > least:
            return number
    return len(drafts)


def _size(recipe: JqRecipe) -> int:
    return len(json.dumps(recipe.to_dict(), ensure_ascii=False))


def _cost(draft: _Draft, output: str) -> str:
    """The size of a recipe's output as a phrase, such as "about 40 tokens"."""
    return f"{'about' if draft.most is None else 'up to'} {_rounded(script_aware_estimate(output))} tokens"


def _rounded(tokens: int) -> int:
    """A number rounded up to one digit or, from a hundred on, two."""
    unit = 10 ** max(1, len(str(tokens)) - 2)
    return -(-tokens // unit) * unit


def has_half_pairs(path: str) -> bool:
    """True if a record of the file has half of a surrogate pair, at which jq stops."""
    with open(path, "rb") as file:
        file.readline()
        while chunk := file.read(_CHUNK) + file.readline():
            if (b"\\ud" in chunk or b"\\uD" in chunk) and any(found[1] for found in _ESCAPE.finditer(chunk)):
                return True
    return False


def _sample(lines: Iterable[bytes]) -> tuple[list[str], bool]:
    """The records on which recipes are tried, and True if they are all that there are."""
    sample: list[str] = []
    room = _SAMPLE_BYTES
    for line in lines:
        room -= len(line) + 1
        if sample and room < 0:
            return sample[:_SAMPLE_LINES], False
        sample.append(line.decode())
    return sample, True


def _outputs(drafts: Sequence[_Draft], sample: Sequence[str], inputs: str) -> Iterator[str | None]:
    """The output of each recipe on the sample, or of its `most` if it has that; None if it fails.

    All run as one program, because compiling takes longer than running. *inputs* is an expression for the records that
    are searched. Of a larger file they are few, because matching a regular expression with each of many takes as long
    as all the rest.
    """
    records = f'{{"all":[{",".join(sample)}],"values":[{",".join(draft.value or "null" for draft in drafts)}]}}'
    pairs = [draft.trials(number) for number, draft in enumerate(drafts)]
    programs = [trial for trial, _ in pairs] + [most for _, most in pairs if most]
    trials = [f"(try [{program}] catch null)" for program in programs]
    try:
        found = _run(trials, records, inputs)
    except (ValueError, RuntimeError, MemoryError):
        found = [_alone(trial, records, inputs) for trial in trials]
    rows = iter(found[len(drafts) :])
    for draft, output in zip(drafts, found, strict=False):
        shown = next(rows) if draft.most else output
        yield None if output is None or shown is None else "".join(f"{_row(value)}\n" for value in shown)


def _run(trials: Sequence[str], records: str, inputs: str) -> list[Any]:
    program = f".all as $all | .values as $values | def inputs: {inputs}; [{', '.join(trials)}]"
    return _compiled(program).input_text(records).first()


@lru_cache(_PROGRAMS)
def _compiled(program: str) -> Any:
    import jq

    return cast("Any", jq).compile(program)


def _alone(trial: str, records: str, inputs: str) -> Any:
    try:
        return _run([trial], records, inputs)[0]
    except (ValueError, RuntimeError, MemoryError):
        return None


def _row(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
