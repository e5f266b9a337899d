"""The version of this package, as it is installed."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """``0+unknown`` where the package is not installed, in a checkout that is only on the path."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("lro-spec")
    except PackageNotFoundError:
        return "0+unknown"
