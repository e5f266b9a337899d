"""Exit codes of the commands, and the exception for mistakes that a user can correct."""

from __future__ import annotations

import click

EXIT_OK = 0
"""The claim holds."""
EXIT_FAILED = 1
"""The claim does not hold."""
EXIT_USAGE = 2
"""The call, or a file named in it, is wrong."""
EXIT_NO_VERDICT = 3
"""The server could not be observed, or the suite itself failed."""
EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells report SIGINT."""
EXIT_BROKEN_PIPE = 141
"""The reader of the output has gone, as shells report SIGPIPE."""


class UsageError(click.ClickException):
    """The call or the profile is wrong. The message is one line a problem, each of which says how to correct it."""

    exit_code = EXIT_USAGE
