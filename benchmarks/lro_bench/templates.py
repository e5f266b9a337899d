"""The HTML templates of this package. They escape all values, such as the text of a server."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "pages"
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(name: str, **values: Any) -> str:
    """The page made from *values* by the template ``pages/NAME.html.j2``."""
    return _environment().get_template(f"{name}.html.j2").render(**values) + "\n"
