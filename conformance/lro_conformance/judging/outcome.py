"""Reasons why a requirement is not judged, raised by trials and by checks."""

from __future__ import annotations


class NotObserved(Exception):
    """Evidence could not be obtained; the message says why."""

    subject: object = None
    """A subject that shows and reproduces the obstacle, such as the conversation with a server that ended; None if
    there is none."""


class NotApplicable(Exception):
    """A requirement does not bind this server; the message says why."""
