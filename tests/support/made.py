"""A call that is made up: what a test gives it, and what follows from its records."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import Any

from lro_conformance.capture.records import by_id, id_of


class Made(SimpleNamespace):
    """Stands for a call, or for anything else of which only some attributes matter."""

    @property
    def file_ids(self) -> frozenset[str]:
        """The ids of the records in the file, as `Call.file_ids`."""
        return frozenset(by_id(self.file_records))

    @property
    def order(self) -> tuple[str | None, ...]:
        """The ids of the records of an inline result, as `Call.order`."""
        return tuple(map(id_of, self.records or []))

    @property
    def identity(self) -> int:
        """Each stands for another call."""
        return id(self)

    @cached_property
    def computed(self) -> dict[object, Any]:
        """Results of pure functions, as `Call.computed`."""
        return {}
