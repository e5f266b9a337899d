"""The small reference implementation of Large Result Offloading, for server authors to read and copy."""

from lro_reference.settings import Settings, SettingsError

__all__ = ["Settings", "SettingsError"]
