"""``lro.yaml``: how a server is started, set up, called and cleaned up after.

>>> from lro_conformance.profile import profile_for_command
>>> profile_for_command(["python", "-m", "my_server"]).settings["threshold_tokens"].env
'ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS'
"""

from lro_conformance.profile.builtin import profile_for_command
from lro_conformance.profile.errors import Problem, ProfileError
from lro_conformance.profile.launcher import Launch, SettingNotOffered, fill, launch
from lro_conformance.profile.model import (
    Cleanup,
    Client,
    ConfigFile,
    DetailValue,
    Events,
    Operation,
    Profile,
    Seed,
    ServerSpec,
    Setting,
)
from lro_conformance.profile.proxy import behind_proxy, fill_upstream, own_lro, proxy_command
from lro_conformance.profile.reader import load, parse

__all__ = [
    "Cleanup",
    "Client",
    "ConfigFile",
    "DetailValue",
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
    "behind_proxy",
    "fill",
    "fill_upstream",
    "launch",
    "load",
    "own_lro",
    "parse",
    "profile_for_command",
    "proxy_command",
]
