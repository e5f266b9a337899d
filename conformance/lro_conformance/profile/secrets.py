"""Secrets in the environment and in the command of a profile's servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from lro_conformance.profile.model import Profile
from lro_spec.redaction import Masks


def masks_of(profile: Profile) -> Masks:
    """Redactor of the values in the environment and in the command that look secret, except settings of LRO."""
    settings = {s.env for s in profile.settings.values() if s is not None and s.env is not None}
    return Masks({**os.environ, **profile.server.env, **dict(_options(profile.server.command))}, but=settings)


def _options(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options of a command with their values, written as ``--token=VALUE`` or ``--token VALUE``."""
    for word, following in zip(command, [*command[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name.startswith("-") and (equals or not following.startswith("-")):
            yield name, value if equals else following
