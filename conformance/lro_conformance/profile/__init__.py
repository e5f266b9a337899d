"""The profile of a server, ``lro.yaml``: how to start the server, set it up, call its tools and trigger its cleanup.

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
from lro_conformance.profile.proxy import fill_upstream, proxy_command, server_index, with_own_lro
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
    "fill",
    "fill_upstream",
    "launch",
    "load",
    "parse",
    "profile_for_command",
    "proxy_command",
    "server_index",
    "with_own_lro",
]
