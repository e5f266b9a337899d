"""A server whose settings are given by the documented variables, although its profile names other ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.settings import Settings
from lro_conformance.profile import Profile
from lro_conformance.profile.model import default_settings
from lro_conformance.trials import trial
from lro_conformance.trials.survey import Survey

if TYPE_CHECKING:
    from lro_conformance.lab.lab import Lab

EXAMINED = ("threshold_tokens", "output_dir")
"""The settings that are examined. The effect of both of them shows in a single offloaded call."""


@dataclass(frozen=True)
class Documented:
    """A call of a server that was given its settings by the documented variables."""

    call: Call | None
    """None if the server did not start with these variables."""
    names: tuple[str, ...]
    """The settings of `EXAMINED` for which the profile names a way other than the documented variable and key."""
    trouble: str | None = None
    """Reason why there is no call."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Maps the name of a setting to the flag of the server's command that overrides its documented variable."""


def _reason_not_applicable(profile: Profile) -> str | None:
    return None if _set_otherwise(profile) else "the profile has no other names for threshold_tokens and output_dir"


def _set_otherwise(profile: Profile) -> tuple[str, ...]:
    """The settings of `EXAMINED` for which the profile names a way other than the documented variable and key."""
    default_ways = default_settings(profile.edition)
    ways = {name: way for name in EXAMINED if (way := profile.settings.get(name)) is not None}
    return tuple(n for n, way in ways.items() if way != default_ways[n] and way.toml != f"prompt.offload.{n}")


@trial("documented variables", reason_not_applicable=_reason_not_applicable)
def documented(lab: Lab, survey: Survey) -> Documented:
    """Start the server with a threshold of 1 and an output folder, both by the documented variables, and call it."""
    first = next(n for n in survey.operations if survey.offloads(n))
    documented_lab = lab.for_profile(replace(lab.profile, settings=default_settings(lab.profile.edition)))
    documented_lab.seed_like(lab)
    documented_lab.accepted = lab.accepted
    names, fixed = _set_otherwise(lab.profile), documented_lab.profile.fixed
    try:
        with documented_lab.bench(
            Settings(threshold_tokens=1 if documented_lab.can_set("threshold_tokens") else None)
        ) as bench:
            return Documented(bench.offloading_call(first, 2), names, fixed=fixed)
    except ServerTrouble as trouble:
        reason = f"without the settings of its profile the server does not start: {trouble}"
        return Documented(None, names, reason, fixed)
