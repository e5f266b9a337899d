"""``lro.yaml``: how a server is started, set up, called and cleaned up after.

>>> from lro_conformance.profile import Profile, launch
>>> Profile.for_command(["python", "-m", "my_server"]).settings["threshold_tokens"].env
'ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS'
"""

from lro_conformance.profile.launching import Launch, SettingNotOffered, fill, launch, own_lro
from lro_conformance.profile.loading import load, parse
from lro_conformance.profile.model import (
    Cleanup,
    ConfigFile,
    Events,
    Operation,
    Profile,
    Seed,
    ServerSpec,
    Setting,
)
from lro_conformance.profile.problems import Problem, ProfileError
from lro_conformance.profile.proxies import in_front, proxy_command

__all__ = [
    "Cleanup",
    "ConfigFile",
    "Events",
    "Launch",
    "Operation",
    "Problem",
    "Profile",
    "ProfileError",
    "Seed",
    "ServerSpec",
    "Setting",
    "SettingNotOffered",
    "fill",
    "in_front",
    "launch",
    "load",
    "own_lro",
    "parse",
    "proxy_command",
]
