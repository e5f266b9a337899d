"""Exit codes of the commands, and the exception for mistakes that a user can correct."""

from __future__ import annotations

from importlib.util import find_spec

import click

EXIT_OK = 0
"""The command has succeeded. For a run, this means that the claim about the server holds."""
EXIT_FAILED = 1
"""The claim does not hold, or what the command looked for is wrong or missing."""
EXIT_USAGE = 2
"""The command line, or a file named in it, is wrong."""
EXIT_NO_VERDICT = 3
"""There is no verdict. In most cases, the server could not be observed, or the suite itself failed."""
EXIT_INTERRUPTED = 130
"""The command was interrupted by Ctrl-C. Shells report SIGINT by this number, too."""
EXIT_BROKEN_PIPE = 141
"""The reader of the output has gone. Shells report SIGPIPE by this number, too."""


class UsageError(click.ClickException):
    """The command line or the profile is wrong. The message has one line for each problem, and says how to correct the
    problem."""

    exit_code = EXIT_USAGE


EXTRAS = {
    "certify": frozenset(("hypothesis", "jinja2", "junitparser", "markupsafe", "pytest", "rich")),
    "proxy": frozenset(("anyio", "httpx2", "mcp", "mcp_types")),
    "bench": frozenset(("bpe_openai", "inspect_ai")),
}
"""Extras of the distribution, each with the import names of the packages that it adds. The packages that `lro validate`
needs are always installed, and are not listed here."""


def missing_extra(problem: ImportError) -> str | None:
    """Return the extra to which a missing package belongs, or None if the package belongs to no extra."""
    package = (problem.name or "").partition(".")[0]
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


def require(extra: str) -> None:
    """Raise `ModuleNotFoundError` if a package of an extra is not installed."""
    for package in sorted(EXTRAS[extra]):
        if find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
