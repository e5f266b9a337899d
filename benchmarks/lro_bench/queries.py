"""Classes of queries: how close a query of the file is to the recipes of the descriptor.

- *verbatim*: a recipe without any change.
- *parameterized*: a recipe in which only words or numbers are different.
- *composed*: every step of its jq program is a step of some recipe, but the program as a whole is no recipe.
- *adapted*: some steps of its jq program are steps of recipes.
- *novel*: everything else, including grep, and reading without a query.

The published text names scores without defining them. These classes are our own. They follow the plan in the author's
repository, but our scores cannot be compared with the published scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from lro_spec.recipes.lexer import tokens
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.shell import RecipeSyntaxError, split_pipeline

CLASSES = ("verbatim", "parameterized", "composed", "adapted", "novel")
SCORES: Mapping[str, float] = {"verbatim": 1.0, "parameterized": 0.8, "composed": 0.6, "adapted": 0.4, "novel": 0.0}
LIBRARY_CLASSES = frozenset({"verbatim", "parameterized", "composed", "adapted"})
"""Classes of the queries that count as use of the library of recipes."""


def classify(tool: str, arguments: Mapping[str, Any], recipes: Sequence[str]) -> str:
    """The class of a query."""
    if tool == "lro_extract":
        if "recipe" in arguments:
            return "parameterized" if arguments.get("params") else "verbatim"
        return _class_of(str(arguments.get("query", "")), tuple(recipes))
    if tool != "bash":
        return "novel"
    command = str(arguments.get("command", ""))
    if " ".join(command.split()) in {" ".join(recipe.split()) for recipe in recipes}:
        return "verbatim"
    return _class_of(_program(command), tuple(recipes))


@lru_cache(maxsize=4096)
def _program(command: str) -> str:
    """The jq program of a command. Empty if the command has no jq program, or cannot be parsed."""
    try:
        for stage in split_pipeline(command):
            if stage and stage[0] == "jq":
                words = [word for word in stage[1:] if not word.startswith("-")]
                return words[0] if words else ""
    except RecipeSyntaxError:
        pass
    return ""


@lru_cache(maxsize=4096)
def _class_of(program: str, recipes: tuple[str, ...]) -> str:
    steps = _steps(program)
    recipes_as_steps = [_steps(parse_command(recipe).jq.program) for recipe in recipes]
    if not steps:
        return "novel"
    if steps in recipes_as_steps:
        return "parameterized"
    library_steps = {step for recipe in recipes_as_steps for step in recipe}
    if set(steps) <= library_steps:
        return "composed"
    return "adapted" if set(steps) & library_steps else "novel"


@lru_cache(maxsize=4096)
def _steps(program: str) -> tuple[str, ...]:
    """The steps of a jq program, which is split at its outermost pipes, with a placeholder for each literal.

    There are none if the program cannot be parsed.
    """
    steps, depth = [""], 0
    try:
        program_tokens = list(tokens(program))
    except ValueError:
        return ()
    for token in program_tokens:
        if token.kind in ("space", "comment"):
            continue
        depth += token.text in ("(", "[", "{")
        depth -= token.text in (")", "]", "}")
        if token.text == "|" and depth == 0:
            steps.append("")
        else:
            steps[-1] += "?" if token.kind in ("string", "number") else f"{token.text} "
    return tuple(step for step in steps if step)
