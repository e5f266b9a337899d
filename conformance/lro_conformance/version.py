"""The installed version of this package."""

from __future__ import annotations

from functools import cache

CLIENT_NAME = "lro-certify"
"""The name by which the suite introduces itself to servers."""


@cache
def version() -> str:
    """The installed version, or ``0+unknown`` if the package is not installed, such as in a checkout on the path."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("lro-spec")
    except PackageNotFoundError:
        return "0+unknown"
