"""Reasons why something has no verdict, raised by trials and checks alike."""

from __future__ import annotations


class NotObserved(Exception):
    """Evidence could not be obtained; the message says why."""

    subject: object = None
    """Obstacle to show and to reproduce, such as a conversation with a server that ended. None if there is none."""


class NotApplicable(Exception):
    """A requirement does not bind this server; the message says why."""
