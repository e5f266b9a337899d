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

from lro_proxy.payload.fields import Fields, Path, is_naming_field
from lro_spec.jsonl import lossless
from lro_spec.messages import JqRecipe
from lro_spec.recipes.render import quote
from lro_spec.tokens import CHARACTERS_PER_TOKEN, script_aware_estimate

MIN_OUTPUT_TOKENS = 1000
"""Number of tokens that a recipe may return, however low the threshold is."""
_THRESHOLD_DIVISOR = 5
"""A recipe may return the threshold divided by this number, if that is more than `MIN_OUTPUT_TOKENS`."""
_MAX_SAMPLE_BYTES = 1 << 16
"""Recipes are tried on all records if these have at most this many bytes together."""
_MAX_SAMPLE_LINES = 60
"""Maximum number of records on which recipes are tried in a larger file."""
_CACHED_PROGRAMS = 16
"""Number of compiled programs that are kept, each of 200 KB."""
_CHUNK_BYTES = 1 << 20
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
"""An escape in JSON. Its group matches only half of a surrogate pair."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEYWORDS = frozenset(
    ("and", "or", "not", "if", "then", "elif", "else", "end", "as", "def", "reduce", "foreach", "try", "catch", "label")
) | {"import", "include", "__loc__"}

PLACEHOLDER = "word"
"""The word that recipes look for, which a user replaces."""
_SEARCH_CALL = f'test("{PLACEHOLDER}"; "i")'
_PATTERN_CALLS = {
    _SEARCH_CALL: 'test($pattern; "i")',
    f'match(".{{0,80}}{PLACEHOLDER}.{{0,80}}"; "gi")': 'match(".{0,80}" + $pattern + ".{0,80}"; "gi")',
}
"""For each jq call that looks for the placeholder, the same call with a variable in its place."""
_MAX_ROWS, _MAX_TOP_ROWS, _MAX_GROUP_ROWS = 20, 10, 20
"""Maximum number of rows of most recipes, of the recipe for records with the highest values, and of counts by group."""
_MAX_ROW_LENGTH = 200
"""Maximum number of characters of a row, except where a recipe returns a single line or record."""
_MAX_CELL_LENGTH = 60
"""Maximum number of characters of a heading, of a cell with the text that describes a record best, of the value that a
group has in common, and of a field's name in a description."""
_WIDE_CHARACTERS_PER_TOKEN = 1.2
"""Characters per token where all characters are wide: Chinese, Japanese, Korean and emoji."""
_OUTLINE = re.compile(r"^(#{1,6} |diff --git |\s*((async|export|public|pub) )?(def|class|function|func|fn) )")


@dataclass(frozen=True, slots=True)
class OutputBound:
    """The size that the output of a recipe may have."""

    tokens: int
    characters_per_token: float
    """Characters per token, with which the length of rows is computed."""

    @classmethod
    def of(cls, threshold: int, wide_count: int) -> OutputBound:
        """The bound at a threshold.

        *wide_count* is the number of wide characters (Chinese, Japanese, Korean and emoji) in the file.
        """
        tokens = max(MIN_OUTPUT_TOKENS, threshold // _THRESHOLD_DIVISOR)
        # If wide characters are few, their extra tokens are subtracted once. Otherwise, every row may consist of them.
        extra_tokens = round(wide_count * (1 / _WIDE_CHARACTERS_PER_TOKEN - 1 / CHARACTERS_PER_TOKEN))
        if extra_tokens < tokens // 4:
            return cls(tokens - extra_tokens, CHARACTERS_PER_TOKEN)
        return cls(tokens, _WIDE_CHARACTERS_PER_TOKEN)

    def width(self, rows: int) -> int:
        """Maximum number of characters of each of *rows* rows, without its line feed."""
        return int((self.tokens - 1) * self.characters_per_token / rows) - 1


@dataclass(frozen=True, slots=True)
class _Draft:
    """A recipe that does not have the path of the file yet."""

    description: str
    options: str
    program: str
    lines: tuple[str, int] | None = None
    """The command that chooses lines after the header, ``head`` or ``tail``, and their number."""
    longest_output: str | None = None
    """A jq expression for as many rows as the recipe can return. It is needed where the output on the sample says too
    little, as the word of a search may not occur there. The size of its output is stated as "up to". None if the size
    of the recipe's own output on the sample is stated."""
    value: str | None = None
    """JSON of the value that records are compared with."""
    columns: str = ""
    """The fields in the output, for a reader who does not read the program."""

    def recipe(self, path: str, cost: str, *, is_brief: bool) -> JqRecipe:
        """The recipe with its *cost* in the description. With *is_brief*, the description does not name the columns."""
        columns = "" if is_brief or not self.columns else f": {self.columns}"
        return JqRecipe(f"{self.description}{columns} ({cost})", self.command(path))

    def command(self, path: str) -> str:
        """The recipe as a command on the file."""
        chosen = "" if self.lines is None else f" | {self.lines[0]} -n {self.lines[1]}"
        return f"tail -n +2 {quote(path)}{chosen} | jq {self.options} {quote(self.program)}"

    def trials(self, number: int) -> tuple[str, str | None]:
        """The program and `longest_output` as expressions over the records of a sample, ``$all``.

        The value to compare with is written as ``$values[number]``, so that the recipes of results that
        differ only in this value are one program, which is compiled once.
        """
        if self.value is None:
            return self._trial(), self.longest_output
        literal, variable = f"== {self.value})", f"== $values[{number}])"
        return self._trial().replace(literal, variable), self.longest_output and self.longest_output.replace(
            literal, variable
        )

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
    """A program that reads `inputs`, changed to run on the array of all records, because libjq itself has no inputs."""
    return f". as $all | def inputs: $all[]; null | {program}"


def with_pattern(program: str) -> str | None:
    """The program of a recipe with ``$pattern`` in place of the placeholder word; None if it has no placeholder."""
    for search, generalised in _PATTERN_CALLS.items():
        if search in program:
            return program.replace(search, generalised)
    return None


_ROW_LIMIT = re.compile(r"(?<=limit\()\d+(?=; inputs)|(?<=\[:)\d+(?=\]\[\])")


def max_rows_of(program: str) -> int | None:
    """The largest number of rows that the program of a recipe returns; None if the program does not limit the rows."""
    limit = _ROW_LIMIT.search(program)
    return None if limit is None else int(limit[0])


def with_rows(program: str, rows: int) -> str:
    """The program of a recipe, changed to return at most *rows* rows."""
    return _ROW_LIMIT.sub(str(rows), program)


# --- drafts


def _for_text(texts: Sequence[str], first: Mapping[str, Any], bound: OutputBound) -> Iterator[_Draft]:
    """Recipes for lines of text, records of ``n`` and ``text``, the most useful first."""
    width = min(_MAX_ROW_LENGTH, bound.width(_MAX_ROWS))
    row = f'"\\(.n): \\(.text)" | .[:{width}]'
    if max(map(len, texts), default=0) > 2 * _MAX_ROW_LENGTH:
        surroundings = f'match(".{{0,80}}{PLACEHOLDER}.{{0,80}}"; "gi") | .string'
        yield _Draft(
            f"Text around a word, first {_MAX_ROWS} places",
            "-rn",
            f'limit({_MAX_ROWS}; inputs | .n as $n | .text | {surroundings} | "\\($n): \\(.)" | .[:{width}])',
            longest_output=f"limit({_MAX_ROWS}; $all[] | {row})",
        )
        part = " and .part == 1" if "part" in first else ""
        yield _Draft(f"Line 1{', part 1' * bool(part)}", "-r", f"select(.n == 1{part}) | .text[:{bound.width(1)}]")
    yield _Draft(
        f"Lines with a word, first {_MAX_ROWS}",
        "-rn",
        f"limit({_MAX_ROWS}; inputs | select(.text | {_SEARCH_CALL}) | {row})",
        longest_output=f"limit({_MAX_ROWS}; $all[] | {row})",
    )
    rows = 2 * _MAX_ROWS
    narrow = min(_MAX_ROW_LENGTH, bound.width(rows))
    if any(map(_OUTLINE.match, texts)):
        line = f'"\\(.n): \\(.text)" | .[:{min(_MAX_CELL_LENGTH, narrow)}]'
        yield _Draft(
            f"Headings and definitions, first {rows}",
            "-rn",
            f"limit({rows}; inputs | select(.text | test({_json_of(_OUTLINE.pattern)})) | {line})",
            longest_output=f"limit({rows}; $all[] | {line})",
        )
    yield _Draft(
        f"Lines 100 to {99 + rows}",
        "-rn",
        f"limit({rows}; inputs | select(.n >= 100 and .n < {100 + rows}) | .text[:{narrow}])",
        longest_output=f"limit({rows}; $all[] | .text[:{narrow}])",
    )
    yield _Draft("How many lines have a word", "-n", f"[inputs | select(.text | {_SEARCH_CALL})] | length")
    yield _Draft(f"The last {_MAX_ROWS} lines", "-r", f".text[:{width}]", ("tail", _MAX_ROWS))


def _for_records(fields: Fields, first: Mapping[str, Any], bound: OutputBound) -> Iterator[_Draft]:
    """Recipes for records with fields, the most useful first; *first* is the first record."""
    table, named = _table(fields, bound, _MAX_ROWS)
    anywhere = f"select(tostring | {_SEARCH_CALL})"
    yield _Draft(
        f"Records with a word, first {_MAX_ROWS}",
        "-rn",
        f"limit({_MAX_ROWS}; inputs | {anywhere} | {table})",
        longest_output=f"limit({_MAX_ROWS}; $all[] | {table})",
        columns=named,
    )
    if fields.page_field is not None:
        yield _lines_within(fields, fields.page_field, bound)
    if fields.group_field is not None:
        yield _group_counts(fields.group_field, bound)
    if fields.number_field is not None:
        row, number = _table(fields, bound, _MAX_TOP_ROWS)[0], _number_expression(fields, fields.number_field)
        yield _Draft(
            f"The {_MAX_TOP_ROWS} records with the highest {_display(fields.number_field)}",
            "-rs",
            f"map(select({number})) | sort_by(-({number}))[:{_MAX_TOP_ROWS}][] | {row}",
        )
    if fields.id_field is not None:
        yield _one_record(fields, first, bound)
    if fields.group_field is not None and (value := _member(first, fields.group_field)) is not None:
        yield _records_of_group(fields, fields.group_field, value, first, bound)
    if fields.number_field is not None:
        number = _number_expression(fields, fields.number_field)
        figures = "{count: length, sum: add, mean: (add / length), min: min, max: max}"
        yield _Draft(
            f"{_display(fields.number_field)}: count, sum, mean, min, max",
            "-rs",
            f"map({number}) | select(length > 0) | {figures} | tostring | .[:{_MAX_ROW_LENGTH}]",
        )
    if fields.id_field is None:
        yield _one_record(fields, first, bound)
    yield _Draft(f"The first {_MAX_ROWS}", "-r", table, ("head", _MAX_ROWS), columns=named)
    yield _Draft("How many records have a word", "-n", f"[inputs | {anywhere}] | length")


def _records_of_group(fields: Fields, path: Path, value: Any, first: Mapping[str, Any], bound: OutputBound) -> _Draft:
    """A recipe for the records that have the first record's *value*, with the columns of that record."""
    fields_of_record = replace(fields, columns=tuple(column for column in fields.columns if column[0] in first))
    row, named = _table(fields_of_record, bound, _MAX_ROWS)
    wanted = _json_of(value)
    return _Draft(
        f"Records of one {_display(path)}, first {_MAX_ROWS}",
        "-rn",
        f"limit({_MAX_ROWS}; inputs | select({_jq_path(path)} == {wanted}) | {row})",
        longest_output=f"limit({_MAX_ROWS}; $all[] | select({_jq_path(path)} == {wanted}) | {row})",
        value=wanted,
        columns=named if fields_of_record != fields else "",
    )


def _lines_within(fields: Fields, page_field: Path, bound: OutputBound) -> _Draft:
    columns = [path for path in fields.columns if path != page_field]
    key_columns = sorted(columns, key=lambda path: (not is_naming_field(path), path != ("line",)))[:2]
    cells = ", ".join([*(_cell(fields, path) for path in key_columns), "$line"])
    row = f"[{cells}] | @tsv | .[:{min(_MAX_ROW_LENGTH, bound.width(_MAX_ROWS))}]"
    lines = f'({_jq_path(page_field)} // "" | tostring | split("\\n")[]) as $line'
    prefix = ", ".join(map(_display, key_columns)) or "nothing"
    return _Draft(
        f"Lines of {_display(page_field)} with a word, first {_MAX_ROWS}, after {prefix}",
        "-rn",
        f"limit({_MAX_ROWS}; inputs | {lines} | select($line | {_SEARCH_CALL}) | {row})",
        longest_output=f"limit({_MAX_ROWS}; $all[] | {lines} | {row})",
    )


def _group_counts(path: Path, bound: OutputBound) -> _Draft:
    group_path, width = _jq_path(path), min(_MAX_CELL_LENGTH, bound.width(_MAX_GROUP_ROWS) - len("1000000\t"))
    first = f".[0]{group_path[1:] if group_path.startswith('.[') else group_path}"
    row = f'"\\(length)\\t\\({first} | tostring | .[:{width}])"'
    return _Draft(
        f"How many of each {_display(path)}, most frequent {_MAX_GROUP_ROWS}",
        "-rs",
        f"group_by({group_path}) | sort_by(-length)[:{_MAX_GROUP_ROWS}][] | {row}",
    )


def _one_record(fields: Fields, first: Mapping[str, Any], bound: OutputBound) -> _Draft:
    whole = f"{_SHORTEN_UNBROKEN * fields.has_long_unbroken_texts}tostring | .[:{bound.width(1)}]"
    if fields.id_field is None:
        return _Draft("The first record in full", "-r", whole, ("head", 1))
    value = _json_of(_member(first, fields.id_field))
    record = f"first(inputs | select({_jq_path(fields.id_field)} == {value}))"
    return _Draft(f"One record in full, by {_display(fields.id_field)}", "-rn", f"{record} | {whole}", value=value)


def _table(fields: Fields, bound: OutputBound, rows: int) -> tuple[str, str]:
    """Two texts: the expression for one row of a table of *rows* rows that stays within the bound, and the names of its
    columns."""
    width = min(_MAX_ROW_LENGTH, bound.width(rows))
    if not fields.columns:
        return f"tostring | .[:{width}]", "their beginning"
    cells = ", ".join(_cell(fields, path) for path in fields.columns)
    return f"[{cells}] | @tsv | .[:{width}]", ", ".join(map(_display, fields.columns))


def _cell(fields: Fields, path: Path) -> str:
    if fields.has_only_types(path, "integer", "number", "boolean", "null"):
        return _jq_path(path)
    if fields.has_only_types(path, "string", "null"):
        return f"{_jq_path(path)}[:{_MAX_CELL_LENGTH}]" if path == fields.text_field else _jq_path(path)
    return f"({_jq_path(path)} | tostring)"


def _number_expression(fields: Fields, path: Path) -> str:
    kind = "numbers" if fields.has_only_types(path, "integer", "number", "null") else "tonumber?"
    return f"{_jq_path(path)} | {kind}"


_SHORTEN_UNBROKEN = (
    'walk(if type == "string" and length > 200 and (test("\\\\s") | not) then "\\(.[:20])… (\\(length) characters)" '
    "else . end) | "
)
"""The beginning of a program, which shortens long texts without a blank, such as base64."""


def _member(record: Mapping[str, Any], path: Path) -> Any:
    value: Any = record
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


def _jq_path(path: Path) -> str:
    steps = [
        f".{name}" if _IDENTIFIER.fullmatch(name) and name not in _KEYWORDS else f"[{_json_of(name)}]" for name in path
    ]
    text = "".join(steps)
    return text if text[0] == "." else f".{text}"


def _json_of(value: Any) -> str:
    return lossless.dump(value).decode()


def _display(path: Path) -> str:
    return ".".join(path)[:_MAX_CELL_LENGTH]


# --- what is offered


def recipes_for(
    fields: Fields | None,
    path: str,
    lines: Iterable[bytes],
    bound: OutputBound,
    *,
    room: int,
    min_count: int,
    path_excess: int = 0,
    is_brief: bool = False,
) -> list[JqRecipe]:
    """Recipes that run on the sample of records without an error, as commands on the file, the most useful first.

    The first *min_count* are returned, and as many more as fit into *room* characters. *path_excess* is the number of
    characters by which the path is longer than usual. These characters of each recipe do not count. *fields* is None
    for lines of text. With *is_brief*, descriptions do not name the columns.
    """
    sample, is_complete = _sample(lines)
    inputs = "$all[]" if is_complete else f"$all[:{_MAX_ROWS}][]"
    records = [lossless.parse(line) for line in sample[:1]] if fields else list(map(json.loads, sample))
    first: Mapping[str, Any] = records[0] if records else {}
    drafts = list(
        _for_text([str(record["text"]) for record in records], first, bound)
        if fields is None
        else _for_records(fields, first, bound)
    )
    recipes: list[JqRecipe] = []
    while drafts:
        tried_count = _fitting(drafts, path, room, min_count - len(recipes), path_excess, is_brief=is_brief)
        for draft, output in zip(drafts[:tried_count], _outputs(drafts[:tried_count], sample, inputs), strict=True):
            if output is None:
                continue
            recipe = draft.recipe(path, _cost(draft, output), is_brief=is_brief)
            room -= _size(recipe) - path_excess
            if room < 0 and len(recipes) >= min_count:
                return recipes
            recipes.append(recipe)
        del drafts[:tried_count]
    return recipes


def _fitting(
    drafts: Sequence[_Draft], path: str, room: int, min_count: int, path_excess: int, *, is_brief: bool
) -> int:
    """The number of drafts to try at once: the drafts that may fit, and the first draft that does not fit."""
    for number, draft in enumerate(drafts, 1):
        room -= _size(draft.recipe(path, "about 10 tokens", is_brief=is_brief)) - path_excess
        if room < 0 and number > min_count:
            return number
    return len(drafts)


def _size(recipe: JqRecipe) -> int:
    return len(json.dumps(recipe.to_dict(), ensure_ascii=False))


def _cost(draft: _Draft, output: str) -> str:
    """The size of a recipe's output as a phrase, such as "about 40 tokens"."""
    return f"{'about' if draft.longest_output is None else 'up to'} {_rounded(script_aware_estimate(output))} tokens"


def _rounded(tokens: int) -> int:
    """A number rounded up to one digit or, from a hundred on, two."""
    unit = 10 ** max(1, len(str(tokens)) - 2)
    return -(-tokens // unit) * unit


def has_half_pairs(path: str) -> bool:
    """True if a record of the file has half of a surrogate pair, at which jq stops."""
    with open(path, "rb") as file:
        file.readline()
        while chunk := file.read(_CHUNK_BYTES) + file.readline():
            if (b"\\ud" in chunk or b"\\uD" in chunk) and any(escape[1] for escape in _ESCAPE.finditer(chunk)):
                return True
    return False


def _sample(lines: Iterable[bytes]) -> tuple[list[str], bool]:
    """The records on which recipes are tried, and whether these are all records of the file."""
    sample: list[str] = []
    room = _MAX_SAMPLE_BYTES
    for line in lines:
        room -= len(line) + 1
        if sample and room < 0:
            return sample[:_MAX_SAMPLE_LINES], False
        sample.append(line.decode())
    return sample, True


def _outputs(drafts: Sequence[_Draft], sample: Sequence[str], inputs: str) -> Iterator[str | None]:
    """The output of each recipe on the sample; None if the recipe fails.

    If a recipe has a `longest_output`, the output of this expression is returned instead of its own.

    All run as one program, because compiling takes longer than running. *inputs* is an expression for the records that
    are searched. In a larger file, only a few records are searched, because matching a regular expression with many
    records takes as long as all the rest.
    """
    records = f'{{"all":[{",".join(sample)}],"values":[{",".join(draft.value or "null" for draft in drafts)}]}}'
    pairs = [draft.trials(number) for number, draft in enumerate(drafts)]
    programs = [trial for trial, _ in pairs] + [longest_program for _, longest_program in pairs if longest_program]
    trials = [f"(try [{program}] catch null)" for program in programs]
    try:
        outputs = _run(trials, records, inputs)
    except (ValueError, RuntimeError, MemoryError):
        outputs = [_run_alone(trial, records, inputs) for trial in trials]
    longest_outputs = iter(outputs[len(drafts) :])
    for draft, output in zip(drafts, outputs, strict=False):
        stated = next(longest_outputs) if draft.longest_output else output
        yield None if output is None or stated is None else "".join(f"{_output_line(value)}\n" for value in stated)


def _run(trials: Sequence[str], records: str, inputs: str) -> list[Any]:
    program = f".all as $all | .values as $values | def inputs: {inputs}; [{', '.join(trials)}]"
    return _compiled(program).input_text(records).first()


@lru_cache(_CACHED_PROGRAMS)
def _compiled(program: str) -> Any:
    import jq

    return cast("Any", jq).compile(program)


def _run_alone(trial: str, records: str, inputs: str) -> Any:
    try:
        return _run([trial], records, inputs)[0]
    except (ValueError, RuntimeError, MemoryError):
        return None


def _output_line(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
