"""A server set by the documented variables, where the profile names others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.settings import Settings
from lro_conformance.profile import Profile
from lro_conformance.profile.model import default_settings
from lro_conformance.trials import trial
from lro_conformance.trials.survey import Survey

if TYPE_CHECKING:
    from lro_conformance.lab.lab import Lab

EXAMINED = ("threshold_tokens", "output_dir")
"""The settings whose effect one offloaded call shows."""


@dataclass(frozen=True)
class Documented:
    """A call of a server that was set by the documented variables."""

    call: Call
    names: tuple[str, ...]
    """Those of `EXAMINED` that the profile sets in another way."""


def _as_documented(profile: Profile) -> str | None:
    return None if _others(profile) else "the profile has no other names for threshold_tokens and output_dir"


def _others(profile: Profile) -> tuple[str, ...]:
    usual = default_settings(profile.edition)
    ways = {name: way for name in EXAMINED if (way := profile.settings.get(name)) is not None}
    return tuple(n for n, way in ways.items() if way != usual[n] and way.toml != f"prompt.offload.{n}")


@trial("documented variables", unbound=_as_documented)
def documented(lab: Lab, survey: Survey) -> Documented:
    """Start the server with a threshold of 1 and an output folder in the documented variables, and call it."""
    first = next(n for n in survey.operations if survey.offloads(n))
    other = lab.for_profile(replace(lab.profile, settings=default_settings(lab.profile.edition)))
    other.seeding.on, other.accepted = lab.seeding.on, lab.accepted
    try:
        with other.bench(Settings(threshold_tokens=1)) as bench:
            call = bench.offloading_call(first, 2)
    except ServerTrouble as trouble:
        raise NotObserved(f"without the settings of its profile the server does not start: {trouble}") from None
    return Documented(call, _others(lab.profile))
