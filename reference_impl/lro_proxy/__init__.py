"""Large Result Offloading for any tool result: `lro proxy` in front of a server, or `Interceptor` inside one.

>>> from lro_proxy import Interceptor
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lro_proxy.payload.interceptor import Interceptor

__all__ = ["Interceptor"]


def __getattr__(name: str) -> Any:
    """Import `Interceptor` on first use, so that the proxy starts faster."""
    if name == "Interceptor":
        from lro_proxy.payload.interceptor import Interceptor

        return Interceptor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
