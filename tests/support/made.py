"""A call that is made up: what a test gives it, and what follows from its records."""

from __future__ import annotations

from types import SimpleNamespace

from lro_conformance.capture.records import by_id


class Made(SimpleNamespace):
    """Stands for a call, or for anything else of which only some attributes matter."""

    @property
    def filed_ids(self) -> frozenset[str]:
        """The ids of the records in the file, as `Call.filed_ids`."""
        return frozenset(by_id(self.filed))
