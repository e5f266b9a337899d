"""Recognition of memories in inline results whose records are not JSON, but prose such as Markdown.

A memory is recognised if the text has both its title and its content verbatim. A title alone may be a mere mention.
Only known memories can be recognised: those in the survey's files, and those that the suite has stored.
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

MIN_TEXT_LENGTH = 12
"""Least length, in characters, of a title or a content that is looked for. A shorter text may occur in another text by
chance."""

MAX_MEMORIES = 500
"""Largest number of memories from files that are looked for. Memories that the suite has stored come in addition."""


def members_shown_in(memory: Mapping[str, object], text: str) -> Record:
    """The members of a memory that *text* contains verbatim. Only members with at least `MIN_TEXT_LENGTH` characters
    count."""
    return {k: v for k, v in memory.items() if _is_text(v) and v in text}


def text_contains_memory(memory: Mapping[str, object], text: str) -> bool:
    """True if *text* contains the title and the content of a memory verbatim.

    False if the title or the content has fewer than `MIN_TEXT_LENGTH` characters, because the text may contain it by
    chance.
    """
    return all(_is_text(value := memory.get(key)) and value in text for key in ("title", "content"))


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) >= MIN_TEXT_LENGTH


@dataclass(frozen=True)
class RecognisableMemories:
    """The memories that can be recognised in an inline result, from the evidence of a survey."""

    survey: Survey

    @cached_property
    def stored(self) -> dict[str, Record]:
        """The memories that the suite has stored in every server, by their titles."""
        return {} if self.survey.seeded_by is None else {m["title"]: m for m in corpus()}

    @cached_property
    def _by_title(self) -> Mapping[str, Record]:
        """Known memories by their titles. A memory is left out if its title is short, or occurs more than once in the
        texts of all known memories."""
        filed = by_id(sorted((r for c in self.survey.files for r in c.file_records), key=len, reverse=True))
        others = (r for r in filed.values() if r.get("title") not in self.stored)
        known = [*self.stored.values(), *islice(others, MAX_MEMORIES)]
        all_texts = "\n".join(text for record in known for text in strings_in(record))
        return {r["title"]: r for r in known if _is_text(r.get("title")) and all_texts.count(r["title"]) == 1}

    def memories_shown_in(self, inline_call: Call) -> list[Record]:
        """The known memories whose title and content are both in the text of an inline result."""
        return [record for record in self._by_title.values() if text_contains_memory(record, inline_call.text)]


def titles_missing_from(call: Call, known: list[Record], text: str) -> list[str]:
    """Titles of the *known* memories that the file of a call lacks. *text* is an inline result that contains the title
    and the content of each known memory.

    The file has a memory if one of its records has the id or the title of the memory. A memory is not missing if all
    occurrences of its content in the text can be parts of the contents of memories in the file: then the text only
    mentions the title.
    """
    ids, titles = call.file_ids, {r.get("title") for r in call.file_records}
    missing = [r for r in known if id_of(r) not in ids and r["title"] not in titles]
    return [str(r["title"]) for r in missing if text.count(r["content"]) > _contained(r["content"], call.file_records)]


def _contained(content: str, records: list[Record]) -> int:
    """Number of times that *content* occurs in the contents of these records."""
    return sum(str(record.get("content")).count(content) for record in records)
