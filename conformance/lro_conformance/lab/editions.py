"""The editions by which a run is judged, and their conventions for the names of offloaded files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from lro_spec.editions import Edition, edition
from lro_spec.filenames import parse_file_name


@dataclass(frozen=True, slots=True)
class Editions:
    """The edition of the profile, and further editions by which the observations will be judged."""

    own: Edition
    others: tuple[Edition, ...] = ()

    @classmethod
    def named(cls, own: str, others: Sequence[str] = ()) -> Editions:
        """Editions by their names."""
        return cls(edition(own), tuple(edition(name) for name in others))

    @property
    def all(self) -> tuple[Edition, ...]:
        """The profile's edition, then the others."""
        return (self.own, *self.others)

    def is_offload_name(self, name: str) -> bool:
        """Return whether a name begins and ends like the names of offloaded files in one of the editions."""
        return any(e.is_file_name(name) for e in self.all)

    def edition_of_file(self, path: str) -> str:
        """Return the name of the edition whose naming convention is followed by a file of the server. If the file
        follows none, return the name of the profile's edition.

        Files that the suite plants next to this file have to follow the same convention.
        """
        name = os.path.basename(path)
        follows = (e.name for e in self.all if parse_file_name(name, edition=e.name) is not None)
        return next(follows, self.own.name)
