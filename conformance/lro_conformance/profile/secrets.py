"""Secrets in the environment of a profile's servers."""

from __future__ import annotations

import os

from lro_conformance.profile.model import Profile
from lro_spec.redaction import Masks


def masks_of(profile: Profile) -> Masks:
    """Redactor of all values that look secret in the environment of the servers, other than settings of LRO."""
    settings = {s.env for s in profile.settings.values() if s is not None and s.env is not None}
    return Masks({**os.environ, **profile.server.env}, but=settings)
