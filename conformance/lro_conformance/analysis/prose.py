"""Memories that inline results show as text, Markdown or prose, recognised by title and content.

Only known memories are recognised: those of the survey's files, and those that the suite has stored. A title alone may
be a mere mention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeGuard

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import corpus
from lro_conformance.capture.records import Record, by_id, id_of, strings_in
from lro_conformance.trials.survey import Survey

LEAST = 12
"""Length in characters from which a text is hardly part of another one by chance."""

MOST = 500
"""Largest number of memories that are looked for, besides those that the suite has stored."""


def shown_of(memory: Mapping[str, object], text: str) -> Record:
    """The members of a memory that are texts of at least `LEAST` characters and are in another *text* as they are."""
    return {k: v for k, v in memory.items() if _is_text(v) and v in text}


def is_shown(memory: Mapping[str, object], text: str) -> bool:
    """True if the title and the content of a memory are in another *text* as they are.

    False if one of them has fewer than `LEAST` characters, because it may be there by chance.
    """
    return all(_is_text(value := memory.get(key)) and value in text for key in ("title", "content"))


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) >= LEAST


@dataclass(frozen=True)
class Prose:
    """Memories of a survey that an inline text may show."""

    survey: Survey

    @cached_property
    def stored(self) -> dict[str, Record]:
        """The memories that the suite has stored in every server, by their titles."""
        return {} if self.survey.seeded_by is None else {m["title"]: m for m in corpus()}

    @cached_property
    def _titles(self) -> Mapping[str, Record]:
        """Known memories by their titles, without those whose title is short, or occurs more than once in the texts of
        known memories."""
        filed = by_id(sorted((r for c in self.survey.files for r in c.file_records), key=len, reverse=True))
        others = (r for r in filed.values() if r.get("title") not in self.stored)
        known = [*self.stored.values(), *islice(others, MOST)]
        everything = "\n".join(text for record in known for text in strings_in(record))
        return {r["title"]: r for r in known if _is_text(r.get("title")) and everything.count(r["title"]) == 1}

    def known_in(self, shown: Call) -> list[Record]:
        """The known memories whose title and content an inline text shows."""
        return [record for record in self._titles.values() if is_shown(record, shown.text)]


def missing_from(filed: Call, known: list[Record], text: str) -> list[str]:
    """Titles of the *known* memories that a file has neither by id nor by title.

    *text* shows each known memory with title and content.

    A memory is left out if the text shows its content only as part of the contents of memories in the file, because
    its title is then a mere mention.
    """
    ids, titles = filed.file_ids, {r.get("title") for r in filed.file_records}
    absent = [r for r in known if id_of(r) not in ids and r["title"] not in titles]
    return [str(r["title"]) for r in absent if text.count(r["content"]) > _contained(r["content"], filed.file_records)]


def _contained(content: str, records: list[Record]) -> int:
    """Number of times that a content occurs in the contents of records."""
    return sum(str(record.get("content")).count(content) for record in records)
