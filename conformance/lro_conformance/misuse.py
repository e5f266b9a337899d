"""The one exception for what a user can put right."""

from __future__ import annotations

import click

MISUSE = 2
"""The exit code: the call or a file that it names is wrong."""


class Misuse(click.ClickException):
    """The call or the profile is wrong: one line that says how to put it right."""

    exit_code = MISUSE
