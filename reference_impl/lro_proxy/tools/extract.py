"""The family `extract`: one tool, `lro_extract`, which runs a recipe or a jq query on an offloaded file.

Standard recipes run in this process (`recipes`). Everything else is run by jq in a sandboxed process (`queries`):
queries, generated recipes of files without memories, and standard recipes with a pattern as parameter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, BinaryIO, cast

from lro_proxy.payload import recipes as generated
from lro_proxy.tools.access import OffloadedFile
from lro_proxy.tools.base import FamilyTool, Workbench, schema
from lro_proxy.tools.casefold import literally
from lro_proxy.tools.limits import Limits, Refused, TooLarge, joined
from lro_proxy.tools.queries import Query
from lro_proxy.tools.recipes import RECIPES
from lro_reference.tool import Tool
from lro_spec.editions import EDITIONS, StandardRecipe
from lro_spec.messages import OffloadResponse
from lro_spec.recipes.lexer import refuse_other_inputs
from lro_spec.recipes.shell import RecipeSyntaxError

MEMORY_EDITION = EDITIONS["lro-6400"]
_WORD = {"type": "string", "maxLength": 1000}
_PARAMS = {
    "namespace": {**_WORD, "description": "Prefix of the namespace."},
    "keyword": {**_WORD, "description": "Plain text to look for, ignoring case."},
    "pattern": {**_WORD, "description": "A regular expression to look for, instead of keyword."},
    "type": {**_WORD, "description": "The memory type."},
    "tag": {**_WORD, "description": "A tag."},
    "n": {"type": "integer", "minimum": 1, "maximum": 2**31, "description": "Maximum number of results."},
    "skip": {"type": "integer", "minimum": 0, "maximum": 2**31, "description": "Number of results to skip."},
}
_PATTERNS = {
    "title-search": 'select(.title | strings | test($pattern; "i"))',
    "content-search": 'select(.content | strings | test($pattern; "i"))',
}
"""Queries that run in place of a standard recipe if a pattern is given, by the recipe's effect."""
_PART = 10_000
"""Size in characters of a part that fits into an answer in any script."""
_NOTHING = "No record matches."


def extract(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """Run a recipe or a query. Raises `Refused`."""
    recipe, query = arguments.get("recipe", 0), arguments.get("query")
    if bool(recipe) == (query is not None):
        raise Refused("give either recipe (a number) or query (a jq filter), and not both")
    if recipe and arguments.get("slurp"):
        raise Refused("slurp is only for a query: a recipe itself decides how it reads the records")
    params: dict[str, Any] = dict(arguments.get("params", {}))
    if recipe and {"keyword", "pattern"} <= params.keys():
        raise Refused("give either keyword (plain text) or pattern (a regular expression), not both")
    with bench.files.open(arguments["file_path"]) as (known, file):
        try:
            if query is not None:
                return _query(bench, file, query, params, slurp=arguments.get("slurp", False))
            if not known.name.startswith(f"{MEMORY_EDITION.file_prefix}-"):
                return _generated_recipe(bench, known, file, recipe, params)
            return _standard(bench, known, file, recipe, params)
        except TooLarge as problem:
            raise Refused(_less(problem, arguments.get("params", {}).get("skip", 0), known.descriptor)) from None


# --- standard recipes


def _standard(
    bench: Workbench, known: OffloadedFile[OffloadResponse], file: BinaryIO, number: Any, params: dict[str, Any]
) -> str:
    library = {r.number: r for r in MEMORY_EDITION.recipes_at(known.descriptor.summary.detail)}
    entry = _numbered(number, library)
    recipe = RECIPES[entry.effect]
    skip, n = params.pop("skip", 0), params.pop("n", recipe.most)
    words = [name for name in (recipe.word, "pattern" * (entry.effect in _PATTERNS)) if name]
    if unknown := [name for name in params if name not in words]:
        takes = ", ".join([*words, "n", "skip"])
        raise Refused(f"recipe {number} has no parameter {', '.join(unknown)}; it takes {takes}")
    if "pattern" in params:
        most = {} if n is None else {"n": n}
        return _query(bench, file, _PATTERNS[entry.effect], {**params, **most, "skip": skip})
    word = params.get(recipe.word, recipe.default)
    rows = islice(recipe.rows(file, word, None if n is None else skip + n), skip, None)
    shown = joined(rows, bench.limits.output_characters, array=recipe.array)
    if skip and shown in ("", "[]") and (there := sum(1 for _ in recipe.rows(file, word, recipe.most))):
        return f"There are {there} results, so none remains after the first {skip}."
    return shown or _NOTHING


def _numbered(number: int, library: Mapping[int, StandardRecipe]) -> StandardRecipe:
    if number not in library:
        raise Refused(f"this file has no recipe {number}: its recipes are {min(library)} to {max(library)}")
    return library[number]


# --- generated recipes, and queries


def _generated_recipe(
    bench: Workbench, known: OffloadedFile[OffloadResponse], file: BinaryIO, number: int, params: dict[str, Any]
) -> str:
    from lro_spec.recipes.pipeline import parse_command

    recipes = known.descriptor.jq_recipes
    if not recipes:
        raise Refused("this file has no recipes: give a jq filter as query")
    if not 1 <= number <= len(recipes):
        raise Refused(f"this file has no recipe {number}: its recipes are 1 to {len(recipes)}")
    pipeline = parse_command(recipes[number - 1].command)
    program, general = pipeline.jq.program, generated.with_pattern(pipeline.jq.program)
    if unknown := set(params) - {"n", "skip", *(("keyword", "pattern") if general else ())}:
        raise Refused(
            f"recipe {number} of this file has no parameter {', '.join(sorted(unknown))}: it takes "
            f"{'keyword or pattern, ' * (general is not None)}n and skip; to look for anything else, change its "
            f"program, and give it as query: {program}"
        )
    note = ""
    if "keyword" in params:
        params["pattern"] = literally(params.pop("keyword"))
    if "pattern" in params and general is not None:
        program = general  # the pattern is a value, which cannot change the program
    elif general is not None:
        note = (
            f'\n(This looked for the placeholder "{generated.PLACEHOLDER}": give the text to look for as params '
            '{"keyword": "…"}.)'
        )
    rows = params.get("n", generated.max_rows_of(program) or pipeline.take or pipeline.last)
    if rows is not None:
        params["n"] = rows
        program = generated.with_rows(program, params.get("skip", 0) + rows)
    slurp = pipeline.jq.slurp or pipeline.jq.null_input or pipeline.last is not None
    if pipeline.jq.null_input:
        program = generated.with_inputs(program)
    elif pipeline.last is not None:
        program = f".[-{rows}:][] | {program}"
    return (_query(bench, file, program, params, slurp=slurp, raw=pipeline.jq.raw) or _NOTHING) + note


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
    query = Query(program, params, slurp=slurp, raw=raw, skip=skip, limit=n)
    done = bench.queries.query(query, file)
    text = done.text or ("" if slurp or (skip and done.notes) else _NOTHING)
    return f"{text}\n({done.notes})".lstrip("\n") if done.notes else text


def checked(program: str, limits: Limits) -> None:
    """Check a query. Raises `Refused` if it is too long, or reads anything but its input."""
    if len(program) > limits.program_characters:
        raise Refused(f"the query has {len(program)} characters; at most {limits.program_characters} are allowed")
    try:
        refuse_other_inputs(program)
    except RecipeSyntaxError as problem:
        raise Refused(f"the query is refused: {problem}") from None


def _less(problem: TooLarge, skipped: int, descriptor: OffloadResponse) -> str:
    if problem.fitting:
        params = json.dumps({"n": problem.fitting} | ({"skip": skipped} if skipped else {}))
        advice = f"the first {problem.fitting} results fit: get them with params {params}"
        advice += f' and the next ones with "skip": {skipped + problem.fitting}'
    else:
        advice = f"its first result alone is too large: {_part(descriptor, _PART)}"
    return f"{problem}; {advice}, or select less"


def _part(descriptor: OffloadResponse, most: int) -> str:
    """Advice on requesting a part of one record."""
    fields = descriptor.line_schema.get("properties")
    names = list(cast("Mapping[str, Any]", fields)) if isinstance(fields, Mapping) else []
    if names == ["n", "text"]:
        return f"take a part of the text with a query, such as .text[:{most}], then .text[{most}:{2 * most}]"
    if {"id", "title"} <= set(names):
        return "pick fields with a query, such as {id, title}"
    return f"pick fields with a query, or take a part of the record, such as tostring[:{most}]"


_DESCRIPTION = (
    "Reads an offloaded result without a shell: give the file_path of its descriptor and the number of one of its "
    "jq_recipes (with params where the recipe looks for something), or a jq filter of your own, which is applied to "
    "each record. Returns one result per line."
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
                    "description": "What a recipe looks for, and how many results it returns.",
                },
            ),
        ),
        extract,
        prefixed=False,
    ),
)
"""The tools of the family."""
