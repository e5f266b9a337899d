"""The family `extract`: one tool, `lro_extract`, which runs a recipe or a jq query on an offloaded file.

Standard recipes run here (`standard`). The recipes of a file whose records are no memories are run by jq, as are
queries, in a process that can do nothing else (`sandbox`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

from lro_reference.extraction.family import FamilyTool, Workbench, schema
from lro_reference.extraction.files import OffloadedFile
from lro_reference.extraction.limits import Limits, Refused, TooLarge, joined
from lro_reference.extraction.standard import RECIPES, Recipe
from lro_reference.tooling import Tool
from lro_spec.editions import EDITIONS, StandardRecipe
from lro_spec.jqtext import refuse_reaching_out
from lro_spec.messages import OffloadResponse
from lro_spec.shellwords import RecipeSyntaxError

MEMORY_EDITION = EDITIONS["lro-6400"]
_WORD = {"type": "string", "maxLength": 1000}
_PARAMS = {
    "namespace": {**_WORD, "description": "Prefix of the namespace."},
    "keyword": {**_WORD, "description": "Plain text that must occur, whatever the case."},
    "pattern": {**_WORD, "description": "A regular expression, where a recipe takes a keyword."},
    "type": {**_WORD, "description": "The memory type."},
    "tag": {**_WORD, "description": "A tag."},
    "n": {"type": "integer", "minimum": 1, "description": "At most so many results."},
    "skip": {"type": "integer", "minimum": 0, "description": "Leave out so many results first."},
}
_PATTERNS = {
    "title-search": 'select(.title | strings | test($pattern; "i"))',
    "content-search": 'select(.content | strings | test($pattern; "i"))',
}
_NOTHING = "No record matches."


def extract(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """The answer of the tool. Raises `Refused`."""
    recipe, query = arguments.get("recipe", 0), arguments.get("query")
    if bool(recipe) == (query is not None):
        raise Refused("give either recipe (a number) or query (a jq filter), not both or none")
    params: dict[str, Any] = dict(arguments.get("params", {}))
    with bench.files.open(arguments["file_path"]) as (known, file):
        try:
            if query is not None:
                return _query(bench, file, query, params, slurp=arguments.get("slurp", False))
            if not known.name.startswith(f"{MEMORY_EDITION.file_prefix}-"):
                return _described(bench, known, file, recipe, params)
            return _standard(bench, known, file, recipe, params)
        except TooLarge as problem:
            raise Refused(_less(problem, arguments.get("params", {}).get("skip", 0))) from None


# --- standard recipes


def _standard(
    bench: Workbench, known: OffloadedFile[OffloadResponse], file: BinaryIO, number: Any, params: dict[str, Any]
) -> str:
    library = {r.number: r for r in MEMORY_EDITION.recipes_at(known.told.summary.detail)}
    entry = _numbered(number, library)
    recipe = RECIPES[entry.effect]
    skip, n = params.pop("skip", 0), params.pop("n", recipe.most)
    if "pattern" in params and entry.effect in _PATTERNS:
        most = {} if n is None else {"n": n}
        return _query(bench, file, _PATTERNS[entry.effect], {**params, **most, "skip": skip})
    word = params.pop(recipe.word, recipe.default)
    if params:
        takes = [name for name in (recipe.word, "pattern" * (entry.effect in _PATTERNS), "n", "skip") if name]
        raise Refused(f"recipe {number} has no parameter {', '.join(params)}; it takes {', '.join(takes)}")
    rows = islice(recipe.rows(file, word, None if n is None else skip + n), skip, None)
    return _shown(rows, recipe, bench.limits)


def _shown(rows: Iterator[bytes], recipe: Recipe, limits: Limits) -> str:
    return joined(rows, limits.output_characters, array=recipe.array) or _NOTHING


def _numbered(number: int, library: Mapping[int, StandardRecipe]) -> StandardRecipe:
    if number not in library:
        raise Refused(f"there is no recipe {number} here: there are {min(library)} to {max(library)}")
    return library[number]


# --- recipes that were made for the file, and queries


def _described(
    bench: Workbench, known: OffloadedFile[OffloadResponse], file: BinaryIO, number: int, params: dict[str, Any]
) -> str:
    from lro_spec.pipeline import parse_command

    recipes = known.told.jq_recipes
    if not 1 <= number <= len(recipes):
        raise Refused(f"there is no recipe {number} here: there are 1 to {len(recipes)}")
    call = parse_command(recipes[number - 1].command).jq
    if unknown := set(params) - {"n", "skip"}:
        raise Refused(
            f"recipe {number} of this file has no parameter {', '.join(sorted(unknown))}: it takes n and skip; "
            f"put your own words into its program and give that as query: {call.program}"
        )
    return _query(bench, file, call.program, params, slurp=call.slurp, raw=call.raw)


def _query(
    bench: Workbench,
    file: BinaryIO,
    program: str,
    params: dict[str, Any],
    *,
    slurp: bool = False,
    raw: bool = False,
) -> str:
    checked(program, bench.limits)
    skip, n = params.pop("skip", 0), params.pop("n", None)
    job = {"kind": "jq", "program": program, "args": params, "slurp": slurp, "raw": raw, "skip": skip, "most": n}
    done = bench.sandbox.run(job, file)
    text = done.text or (_NOTHING if not slurp else "")
    return f"{text}\n({done.notes})" if done.notes else text


def checked(program: str, limits: Limits) -> None:
    """Raises `Refused` for a query that is too long, or that asks for anything but its input."""
    if len(program) > limits.program_characters:
        raise Refused(f"the query has {len(program)} characters; at most {limits.program_characters} are run")
    try:
        refuse_reaching_out(program)
    except RecipeSyntaxError as problem:
        raise Refused(f"the query is refused: {problem}") from None


def _less(problem: TooLarge, skipped: int) -> str:
    if problem.fitting:
        ask = f'the first {problem.fitting} results fit: ask for them with params {{"n": {problem.fitting}}}'
        ask += f' and for the next with "skip": {skipped + problem.fitting}'
    else:
        ask = "its first result alone is: pick fields with a query, such as {id, title}"
    return f"{problem}; {ask}, or narrow it down"


_DESCRIPTION = (
    "Reads an offloaded result without a shell: give the file_path of its descriptor and the number of one of its "
    "jq_recipes (with params where the recipe looks for something), or a jq filter of your own, which is applied to "
    "each record. Answers one result a line."
)
EXTRACT = (
    FamilyTool(
        Tool(
            "lro_extract",
            _DESCRIPTION,
            schema(
                ("file_path",),
                file_path={"type": "string", "description": "The file_path of a descriptor."},
                recipe={"type": "integer", "minimum": 1, "maximum": 10, "description": "Number of a recipe, from 1."},
                query={"type": "string", "description": "A jq filter instead of a recipe; params are its variables."},
                slurp={"type": "boolean", "description": "Apply the query once, to all records as one array."},
                params={
                    "type": "object",
                    "properties": _PARAMS,
                    "additionalProperties": False,
                    "description": "What a recipe looks for, and how many results are wanted.",
                },
            ),
        ),
        extract,
        prefixed=False,
    ),
)
"""The tools of the family."""
