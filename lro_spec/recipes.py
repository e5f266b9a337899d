"""The recipe libraries of the editions (section "Standard jq Recipe Library"): making, understanding, running, judging.

`render` makes the recipes for a file. `parse_command` understands a command, `run` runs it without a shell, `evaluate`
works out what a standard recipe means, `agrees` compares the two, `probe` lets a recipe look for something else.
"""

from __future__ import annotations

import shlex

from lro_spec.agreement import Agreement, agrees, probe
from lro_spec.editions import edition as _edition
from lro_spec.evaluation import erratum, evaluate
from lro_spec.jqrun import EngineError, JqRun, JqRunner, run, run_many
from lro_spec.jqtext import literals, with_literal
from lro_spec.messages import JqRecipe
from lro_spec.outcomes import Expected
from lro_spec.pipeline import JqCall, Pipeline, parse_command
from lro_spec.shellwords import RecipeSyntaxError

__all__ = [
    "Agreement", "EngineError", "Expected", "JqCall", "JqRun", "JqRunner", "Pipeline", "RecipeSyntaxError", "agrees",
    "erratum", "evaluate", "literals", "parse_command", "probe", "quote", "render", "run", "run_many", "with_literal",
]  # fmt: skip


def quote(path: str) -> str:
    """The path as one word of a POSIX shell, in quotes only where it needs them.

    Raises `ValueError` for a path with a NUL, which no command can carry.
    """
    if "\0" in path:
        raise ValueError("a path with a NUL cannot be written in a command")
    return shlex.quote(path)


def render(edition: str, path: str, detail: str = "full") -> list[JqRecipe]:
    """The edition's recipes for one file, its path quoted for a shell.

    *detail* matters where a library depends on the detail level of the file (lro-1600). Raises `ValueError` for a path
    that is not absolute: a relative one would mean another file in another folder, or an option.
    """
    if not path.startswith("/"):
        raise ValueError(f"recipes need an absolute path, got {path!r}")
    word = quote(path)
    return [
        JqRecipe(recipe.description, recipe.command.replace("{file}", word))
        for recipe in _edition(edition).recipes_at(detail)
    ]
