"""Reasons why something has no verdict, raised by trials and checks alike."""

from __future__ import annotations


class NotObserved(Exception):
    """Evidence could not be obtained; the message says why."""


class NotApplicable(Exception):
    """A requirement does not bind this server; the message says why."""
