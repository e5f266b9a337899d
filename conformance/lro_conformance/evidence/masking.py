"""What a run may not write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lro_spec.masking import Masks

if TYPE_CHECKING:
    from lro_conformance.profile import Profile


def masks_of(profile: Profile) -> Masks:
    """What may not be written of the environment that a run's servers see; the settings of LRO are no secrets."""
    settings = {s.env for s in profile.settings.values() if s is not None and s.env is not None}
    return Masks({**os.environ, **profile.server.env}, but=settings)
