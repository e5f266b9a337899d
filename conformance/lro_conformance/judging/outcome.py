"""Exceptions that trials and checks raise to report that something could not be observed, or that a requirement does
not apply."""

from __future__ import annotations


class NotObserved(Exception):
    """Evidence could not be obtained; the message says why."""

    subject: object = None
    """A subject that shows and reproduces the obstacle, such as the conversation with a server whose process ended.
    None if there is no such subject."""


class NotApplicable(Exception):
    """A requirement does not bind this server; the message says why."""
