"""Secrets in the environment and in the command of a profile's servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from lro_conformance.profile.model import Profile
from lro_spec.redaction import Masks


def masks_of(profile: Profile) -> Masks:
    """Return masks for values that look secret. Such values are looked for in the environment of the suite, in the
    environment that the profile sets, and in the options of the command. Variables of settings are left out."""
    settings = {s.env for s in profile.settings.values() if s is not None and s.env is not None}
    return Masks({**os.environ, **profile.server.env, **dict(_options(profile.server.command))}, exceptions=settings)


def _options(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of a command, each with its value, as in ``--token=VALUE`` or ``--token VALUE``."""
    for word, following in zip(command, [*command[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name.startswith("-") and (equals or not following.startswith("-")):
            yield name, value if equals else following
