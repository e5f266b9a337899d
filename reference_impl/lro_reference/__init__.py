"""Large Result Offloading to run and to copy from: a memory server, a proxy for any server, and their interceptor."""

from lro_reference.settings import Settings, SettingsError
from lro_reference.tool_results import Interceptor

__all__ = ["Interceptor", "Settings", "SettingsError"]
