"""Classes of queries: how close a query of the file is to the recipes of the descriptor.

- *verbatim*: a recipe as it stands.
- *parameterized*: a recipe with other words or numbers in it.
- *composed*: every step of its jq program is a step of some recipe, but the program as a whole is no recipe.
- *adapted*: some steps of its jq program are steps of recipes.
- *novel*: everything else, including grep, and reading without a query.

The published text names scores without defining them. These classes are ours, after the plan in the author's
repository, so our scores cannot be compared with the published ones.
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
ALIGNED = frozenset({"verbatim", "parameterized", "composed", "adapted"})
"""Classes that count as using the library of recipes."""


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
    """The jq program of a command; empty if it has none."""
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
    library = [_steps(parse_command(recipe).jq.program) for recipe in recipes]
    if not steps:
        return "novel"
    if steps in library:
        return "parameterized"
    known = {step for recipe in library for step in recipe}
    if set(steps) <= known:
        return "composed"
    return "adapted" if set(steps) & known else "novel"


@lru_cache(maxsize=4096)
def _steps(program: str) -> tuple[str, ...]:
    """The steps of a jq program between its outer pipes, with a placeholder for each literal."""
    steps, depth = [""], 0
    try:
        found = list(tokens(program))
    except ValueError:
        return ()
    for token in found:
        if token.kind in ("space", "comment"):
            continue
        depth += token.text in ("(", "[", "{")
        depth -= token.text in (")", "]", "}")
        if token.text == "|" and depth == 0:
            steps.append("")
        else:
            steps[-1] += "?" if token.kind in ("string", "number") else f"{token.text} "
    return tuple(step for step in steps if step)
