"""Rendering of the recipes for a file. A server needs only this module of `lro_spec.recipes`."""

from __future__ import annotations

import shlex

from lro_spec.editions import edition as _edition
from lro_spec.messages import JqRecipe

__all__ = ["quote", "render"]


def quote(path: str) -> str:
    """The path as one word of a POSIX shell, in quotes only if it needs them.

    Raises `ValueError` for a path with a NUL, which no command can carry.
    """
    if "\0" in path:
        raise ValueError("a path with a NUL cannot be written in a command")
    return shlex.quote(path)


def render(edition: str, path: str, detail: str = "full") -> list[JqRecipe]:
    """The edition's recipes for one file, its path quoted for a shell.

    *detail* matters in an edition whose library depends on the detail level of the file (lro-1600). Raises `ValueError`
    for an unknown edition and for a path with a NUL. Also raises it for a relative path, which would depend on the
    reader's working directory or look like an option.
    """
    if not path.startswith("/"):
        raise ValueError(f"recipes need an absolute path, got {path!r}")
    word = quote(path)
    return [
        JqRecipe(recipe.description, recipe.command.replace("{file}", word))
        for recipe in _edition(edition).recipes_at(detail)
    ]
