"""Functions that a module keeps to itself, where nothing public shows what they do."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any


def inner(module: ModuleType, name: str) -> Callable[..., Any]:
    """A function that a module keeps to itself."""
    return vars(module)[name]
