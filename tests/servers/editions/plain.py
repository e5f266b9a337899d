"""The plain server of each edition."""

from __future__ import annotations

from tests.servers.editions.lro_1600 import plain_1600
from tests.servers.editions.lro_paper import plain_paper
from tests.servers.plain import Server

PLAIN: dict[str, type[Server]] = {"lro-6400": Server, "lro-1600": plain_1600, "lro-paper": plain_paper}
