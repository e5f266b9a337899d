"""Reasons why something has no verdict, raised by trials and checks alike."""

from __future__ import annotations


class NotObserved(Exception):
    """Raised by evidence that could not be had; its text says why."""


class NotApplicable(Exception):
    """Raised where a requirement does not bind this server; its text says why."""
