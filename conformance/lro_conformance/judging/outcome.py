"""Reasons why something has no verdict, raised by trials and checks alike."""

from __future__ import annotations


class NotObserved(Exception):
    """Evidence could not be obtained; the message says why."""

    subject: object = None
    """What prevented it, to be shown and reproduced: a conversation with a server that ended. None if nothing did."""


class NotApplicable(Exception):
    """A requirement does not bind this server; the message says why."""
