"""Files a while after they were written, without any cleanup."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.trials import trial
from lro_conformance.trials.defaults import require_default
from lro_conformance.trials.survey import Survey

if TYPE_CHECKING:
    from lro_conformance.lab.lab import Lab


AGE_S = 1.5
"""Age, in seconds, that even the youngest file has to have when the files are looked at again."""


@dataclass(frozen=True)
class Lasting:
    """Files of the survey, whose server still runs with the default TTL."""

    calls: tuple[tuple[Call, bool], ...]
    """Each call that wrote such a file, with True if the file is gone."""
    age_s: float
    """Age of the youngest file when the files were looked at again, in seconds."""


@trial("files before their expiry", after=("inline",))
def lasting(lab: Lab, survey: Survey) -> Lasting:
    """Look at the survey's files again, a while after the last of them was written."""
    if not lab.can_set("output_dir"):
        reason = lab.profile.reason_not_set("output_dir")
        raise NotObserved(f"servers share a folder, where each may clean up by its own TTL: {reason}")
    require_default(lab.profile.preset, "ttl_seconds")
    calls_with_file = [(c, c.file) for c in survey.files if c.file is not None and c.file.mtime is not None]
    if not calls_with_file:
        raise NotObserved("no file could be read")
    written = max(file.mtime or 0.0 for _, file in calls_with_file)
    lab.workspace.pause(min(AGE_S, written + AGE_S - time.time()))
    calls = tuple((c, not os.path.lexists(file.path)) for c, file in calls_with_file)
    return Lasting(calls, time.time() - written)
