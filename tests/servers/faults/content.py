"""Faults of the records in the file: the set, the values, the shape."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.flagged import FLAGGED, Flagged
from tests.servers.notes import NOTES, Notes
from tests.servers.plain import Call, Server
from tests.servers.replacing import Replacing
from tests.servers.schemaless import OwnNames, Tickets
from tests.servers.worded import Markdown, Prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tests.servers.plain import Record

# The set


class Keeping(Server):
    """Writes another set than was found; counts agree with what is written."""

    def kept(self, call: Call) -> Sequence[int]:
        """The places of the records that are written."""
        raise NotImplementedError

    def offload(self, call: Call) -> str:
        kept = list(self.kept(call))
        call.found = [call.found[n] for n in kept]
        call.records = [call.records[n] for n in kept]
        call.lines = [call.lines[n] for n in kept]
        return super().offload(call)


@fault("LRO-FILE-09", says="missing", proves=0, also=("LRO-THR-02",), profile=NOTES, long=True)
class keeps_a_hundred_notes_at_most(Notes, Keeping):
    """Each process numbers its notes itself, so that records are compared by their titles."""

    def kept(self, call: Call) -> Sequence[int]:
        return range(min(100, len(call.records)))


@fault("LRO-FILE-09", says="missing", proves=0, also=("LRO-INJ-03",))
class loses_the_last_record(Keeping):
    """Off by one at the end."""

    def kept(self, call: Call) -> Sequence[int]:
        return range(max(1, len(call.lines) - 1))


@fault("LRO-FILE-09", says="a memory is in the file twice", proves=0, also=("LRO-INJ-03",))
class writes_one_record_twice(Keeping):
    """The first record of the second batch is also the last of the first."""

    def kept(self, call: Call) -> Sequence[int]:
        return sorted([*range(len(call.lines)), len(call.lines) // 2])


@fault("LRO-FILE-10", says="content", proves=0, also=("LRO-THR-02", "LRO-FILE-11"), profile=FLAGGED)
class files_lack_contents_where_full_is_true(Flagged):
    """The file is written from a projection that was made for light records."""

    def file_lines(self, call: Call) -> list[str]:
        light = [{key: value for key, value in record.items() if key != "content"} for record in call.records]
        return [super().file_lines(call)[0], *map(self.record_line, light)]


@fault("LRO-FILE-09", says="missing", proves=0, also=("LRO-INJ-03",))
class stops_at_150_records(Keeping):
    """A cap that the inline result does not know."""

    def kept(self, call: Call) -> Sequence[int]:
        return range(min(150, len(call.lines)))


@fault("LRO-FILE-09", says="missing", proves=0, also=("LRO-INJ-03",))
class skips_archived_memories(Keeping):
    """The file leaves out what inline shows: memories with the status `archived`."""

    def kept(self, call: Call) -> Sequence[int]:
        return [n for n, memory in enumerate(call.found) if memory["status"] != "archived"]


@fault("LRO-FILE-09", says="missing", proves=0, also=("LRO-INJ-03",))
class loses_one_record_in_a_hundred(Keeping):
    """The hundredth, where a batch ends."""

    def kept(self, call: Call) -> Sequence[int]:
        return [n for n in range(len(call.lines)) if n % 100 != 99] or [0]


@fault("LRO-FILE-09", says="missing", proves=0, explored=True, long=True)
class loses_a_last_record_alone_in_its_batch(Keeping):
    """Batches have twenty-five records, and one that holds a single record is not written."""

    def kept(self, call: Call) -> Sequence[int]:
        size = len(call.lines)
        return range(size - 1 if size > 1 and size % 25 == 1 else size)


# The values


OWN_IDS = """\
seed: {tool: store_memory, arguments: {memory: {title: "$memory.title", content: "$memory.content"}}}
"""


@fault("LRO-FILE-09", says="same title", proves=0, also=("LRO-INJ-01",), profile=OWN_IDS, long=True)
class writes_one_record_of_a_title(Keeping):
    """It gives stored memories ids of its own, so that two of them differ in nothing else."""

    def kept(self, call: Call) -> Sequence[int]:
        return [*{record["title"]: place for place, record in enumerate(call.found)}.values()]

    def completed(self, memory: Record) -> Record:
        given = {key: value for key, value in memory.items() if key not in ("id", "created", "modified")}
        return {**super().completed(given), "provenance": {"confidence": 0.5}}


class Rewriting(Server):
    """Changes records on their way into the file; inline they are right."""

    def written(self, record: Record) -> Record:
        raise NotImplementedError

    def file_lines(self, call: Call) -> list[str]:
        header, *_ = super().file_lines(call)
        return [header, *(self.record_line(self.written(record)) for record in call.records)]

    def everywhere(self, value: Any, change: Callable[[str], str]) -> Any:
        """A value with *change* applied to each string in it."""
        if isinstance(value, str):
            return change(value)
        if isinstance(value, list):
            return [self.everywhere(v, change) for v in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {k: self.everywhere(v, change) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return value


@fault("LRO-FILE-10", says='"??"', proves=0)
class replaces_other_scripts_by_question_marks(Rewriting):
    """Text goes through ASCII."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.encode("ascii", "replace").decode())


@fault("LRO-FILE-10", says="content", proves=0, long=True)
class joins_lines_of_content(Rewriting):
    """Newlines become spaces, so that a record is surely one line."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.replace("\n", " "))


@fault("LRO-FILE-10", says="content", proves=0, long=True)
class cuts_content_at_a_hundred_characters(Rewriting):
    """A preview of the content in place of the content."""

    def written(self, record: Record) -> Record:
        return {**record, "content": record["content"][:100]} if "content" in record else record


@fault("LRO-FILE-10", says="extensions", proves=0)
class leaves_out_extensions(Rewriting):
    """Only the fields that the data model names are written."""

    def written(self, record: Record) -> Record:
        return {k: v for k, v in record.items() if k != "extensions"}


@fault("LRO-FILE-10", says="\\u0000", proves=0)
class loses_nul_in_files(Rewriting):
    """U+0000 ends a text where C writes it, so it is taken out first."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.replace("\0", ""))


@fault("LRO-FILE-10", says="x-deep", proves=0, long=True)
class cuts_what_is_deeper_than_six(Rewriting):
    """A writer with a recursion limit that ordinary memories never reach."""

    def written(self, record: Record) -> Record:
        return {key: self.cut(value, 6) for key, value in record.items()}

    def cut(self, value: Any, depth: int) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        if not depth:
            return None
        if isinstance(value, list):
            return [self.cut(v, depth - 1) for v in value]
        return {k: self.cut(v, depth - 1) for k, v in value.items()}


@fault("LRO-FILE-10", says="x-empty", proves=0, long=True)
class leaves_out_what_is_empty(Rewriting):
    """Empty texts, lists and objects are dropped at every depth."""

    def written(self, record: Record) -> Record:
        return {key: self.filled(value) for key, value in record.items()}

    def filled(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {k: self.filled(v) for k, v in value.items() if v not in ("", [], {})}


@fault("LRO-FILE-10", says="confidence", proves=0, long=True)
class rounds_confidence_to_tenths(Rewriting):
    """0.85 becomes 0.8."""

    def written(self, record: Record) -> Record:
        confidence = self.confidence(record)
        if confidence is None:
            return record
        return {**record, "provenance": {**record["provenance"], "confidence": round(confidence, 1)}}


@fault("LRO-FILE-10", says="/confidence is 0.123456", proves=0)
class rounds_confidence_to_three_places(Rewriting):
    """As exact as most confidences are: no memory of the server's own has another."""

    def written(self, record: Record) -> Record:
        confidence = self.confidence(record)
        if confidence is None:
            return record
        return {**record, "provenance": {**record["provenance"], "confidence": round(confidence, 3)}}


@fault("LRO-FILE-10", says="e\\u0301", proves=0)
class composes_letters_in_files(Rewriting):
    """NFC, for a file that is easy to search; no memory of the server's own has anything else."""

    def written(self, record: Record) -> Record:
        from unicodedata import normalize

        return self.everywhere(record, lambda text: normalize("NFC", text))


@fault("LRO-FILE-10", says="0042", proves=0)
class takes_digits_for_numbers(Rewriting):
    """A text of digits becomes a number in the file, and loses its noughts; no memory of the server's own is one."""

    def written(self, record: Record) -> Record:
        return {**record, "extensions": self.guessed(record["extensions"])} if "extensions" in record else record

    def guessed(self, value: Any) -> Any:
        if isinstance(value, str):
            return int(value) if value.isdigit() else value
        if isinstance(value, list):
            return [self.guessed(v) for v in value]
        return {k: self.guessed(v) for k, v in value.items()} if isinstance(value, dict) else value


@fault("LRO-FILE-10", says="+02:00", proves=0)
class brings_times_to_utc(Rewriting):
    """Whatever looks like a time is written in UTC, inline it is as it was stored."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, self.in_utc)

    def in_utc(self, text: str) -> str:
        if "T" not in text or text[-6:-5] not in ("+", "-"):
            return text
        from datetime import UTC, datetime

        try:
            return datetime.fromisoformat(text).astimezone(UTC).isoformat()
        except ValueError:
            return text


@fault("LRO-FILE-10", says="_private", proves=0)
class hides_private_names(Rewriting):
    """Fields whose names begin with an underscore are dropped as private, at every depth."""

    def written(self, record: Record) -> Record:
        return self.public(record)

    def public(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.public(v) for v in value]
        if not isinstance(value, dict):
            return value
        return {k: self.public(v) for k, v in value.items() if k[:1] != "_"}


@fault("LRO-FILE-10", says="x-names", proves=0)
class spells_names_in_camel_case(Rewriting):
    """The serialiser of files spells the names within extensions in its own way."""

    def written(self, record: Record) -> Record:
        return {**record, "extensions": self.spelt(record["extensions"])} if "extensions" in record else record

    def spelt(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            k[:1] + "".join(w[:1].upper() + w[1:] for w in k[1:].split("_")): self.spelt(v) for k, v in value.items()
        }


@fault("LRO-FILE-10", says="\\r", proves=0)
class ends_lines_as_unix_does(Rewriting):
    """A carriage return and a line feed become a line feed."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.replace("\r\n", "\n"))


@fault("LRO-FILE-10", says="content", proves=0, long=True)
class takes_markup_out_of_contents(Rewriting):
    """Text between angle brackets is removed; none of the server's own memories has any."""

    def written(self, record: Record) -> Record:
        import re

        return self.everywhere(record, lambda text: re.sub(r"<[^<>]+>", "", text))


@fault("LRO-FILE-10", says="content", proves=0, long=True)
class reads_escapes_of_contents_twice(Rewriting):
    """A backslash and an n become a line feed; no memory of the server's own has these."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.replace("\\n", "\n"))


@fault("LRO-FILE-10", says="tags", proves=0, long=True)
class files_hold_each_tag_once(Rewriting):
    """Tags are a set; no memory of the server's own has one twice."""

    def written(self, record: Record) -> Record:
        tags = record.get("tags")
        return {**record, "tags": list(dict.fromkeys(tags))} if isinstance(tags, list) else record


@fault("LRO-FILE-10", says="content", proves=0, explored=True, long=True)
class trims_contents(Rewriting):
    """White space at the ends of a content is cut off; no memory of the server's own has any."""

    def written(self, record: Record) -> Record:
        return {**record, "content": record["content"].strip()} if isinstance(record.get("content"), str) else record


@fault("LRO-FILE-10", says="as inline", proves=0, also=("LRO-DESC-06", "LRO-DESC-07"), explored=True, long=True)
class writes_a_memory_as_it_was_at_first(Replacing):
    """Its line is made when it is first offloaded, and kept for its id; inline, it has the values stored last."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[tuple[str, str], str] = {}

    def file_lines(self, call: Call) -> list[str]:
        header, *lines = super().file_lines(call)
        keys = [(call.detail, record["id"]) for record in call.records]
        return [header, *(self.made.setdefault(key, line) for key, line in zip(keys, lines, strict=True))]


@fault("LRO-FILE-10", says="alike records", proves=0, long=True)
class loses_letters_between_blocks(Server):
    """It writes blocks of 64 KiB, each of them as text, without the bytes of a character that lies in two of them."""

    def file_bytes(self, call: Call) -> bytes:
        data, size = super().file_bytes(call), 1 << 16
        blocks = (data[at : at + size] for at in range(0, len(data), size))
        return b"".join(block.decode(errors="ignore").encode() for block in blocks)


@fault("LRO-FILE-10", says="tags", proves=0, long=True)
class maps_two_labels_at_most(OwnNames, Rewriting):
    """Inline, tags are called labels; the mapping for the file takes the first two."""

    def written(self, record: Record) -> Record:
        return {**record, "tags": record["tags"][:2]} if isinstance(record.get("tags"), list) else record


@fault("LRO-FILE-10", says="tags", proves=0, profile=NOTES, long=True)
class maps_two_tags_of_a_note_at_most(Notes, Rewriting):
    """Each process numbers its notes itself, so that records are compared by their titles."""

    def written(self, record: Record) -> Record:
        return {**record, "tags": record["tags"][:2]} if isinstance(record.get("tags"), list) else record


@fault("LRO-FILE-10", says="content", proves=0, also=("LRO-THR-02",), explored=True, long=True)
class maps_no_long_body(OwnNames, Rewriting):
    """Inline, a content is called body; the mapping for the file leaves out one of more than 300 characters."""

    def written(self, record: Record) -> Record:
        text = record.get("content")
        return {**record, "content": ""} if isinstance(text, str) and len(text) > 300 else record


@fault("LRO-FILE-10", says="created", proves=0, long=True)
class maps_times_to_their_date(OwnNames, Rewriting):
    """Inline, a memory has the time at which it was created under another name; in the file it has the date."""

    def written(self, record: Record) -> Record:
        return {**record, "created": record["created"][:10]} if record.get("created") else record


@fault("LRO-FILE-10", says="namespace", proves=0, also=("LRO-DESC-06",), long=True)
class maps_products_to_their_first_part(Tickets, Rewriting):
    """Inline, a namespace is called product, and the title subject; the file has but the first part of a namespace."""

    def written(self, record: Record) -> Record:
        return {**record, "namespace": record["namespace"].partition("/")[0]} if "namespace" in record else record


@fault("LRO-FILE-10", says="namespace", proves=0, also=("LRO-DESC-06",), long=True)
class maps_products_below_a_prefix(Tickets, Rewriting):
    """Inline, a namespace is called product; that of the file has a prefix."""

    def written(self, record: Record) -> Record:
        return {**record, "namespace": f"x/{record['namespace']}"} if record.get("namespace") else record


@fault("LRO-FILE-10", says="tags", proves=0, long=True)
class maps_labels_to_tags_in_lower_case(Tickets, Rewriting):
    """Inline, tags are called labels."""

    def written(self, record: Record) -> Record:
        return {**record, "tags": [tag.lower() for tag in record["tags"]]} if record.get("tags") else record


@fault("LRO-FILE-10", says="title", proves=0, long=True)
class alters_one_title_in_a_hundred(Rewriting):
    """The record whose number ends in 37 has a letter doubled."""

    def written(self, record: Record) -> Record:
        if record["title"][9:11] != "37":
            return record
        return {**record, "title": record["title"] + record["title"][-1]}


@fault("LRO-FILE-10", says="/extensions/x-rank is 0", proves=0, long=True)
class writes_fractions_as_strings(Rewriting):
    """Numbers in extensions become strings."""

    def written(self, record: Record) -> Record:
        if "extensions" not in record:
            return record
        extensions: Record = record["extensions"] or {}
        return {**record, "extensions": {k: str(v) for k, v in extensions.items()}}


@fault("LRO-FILE-10", says="title", proves=0, long=True)
class escapes_for_html(Rewriting):
    """Quotation marks and ampersands become entities."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.replace("&", "&amp;").replace('"', "&quot;"))


@fault("LRO-FILE-10", says="content", proves=0, long=True)
class drops_unicode_separators(Rewriting):
    """U+2028 is removed lest a line be split at it."""

    def written(self, record: Record) -> Record:
        return self.everywhere(record, lambda text: text.replace("\u2028", ""))


class Shaped(Server):
    """Has records of another shape, inline as in the file, and a line schema that says so."""

    def shaped(self, record: Record) -> Record:
        raise NotImplementedError

    def reshape(self, schema: Record) -> None:
        raise NotImplementedError

    def at_detail(self, memory: Record, detail: str) -> Record:
        return self.shaped(super().at_detail(memory, detail))

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        self.reshape(schema)
        return schema


@fault("LRO-FILE-11", says="tags", proves=0)
class tags_are_one_string(Shaped):
    """Tags joined by commas."""

    def shaped(self, record: Record) -> Record:
        return {**record, "tags": ",".join(record["tags"])}

    def reshape(self, schema: Record) -> None:
        schema["properties"]["tags"] = {"type": "string"}


@fault("LRO-FILE-11", says="created", proves=0)
class created_is_a_number(Shaped):
    """Seconds since 1970."""

    def shaped(self, record: Record) -> Record:
        return {**record, "created": 1735689600 + len(record["title"])}

    def reshape(self, schema: Record) -> None:
        schema["properties"]["created"] = {"type": "integer"}


@fault("LRO-FILE-11", says="memory_type", proves=0, also=("LRO-REC-06",))
class memory_type_is_called_type(Shaped):
    """Another name for a core field."""

    def shaped(self, record: Record) -> Record:
        return {**{k: v for k, v in record.items() if k != "memory_type"}, "type": record["memory_type"]}

    def reshape(self, schema: Record) -> None:
        schema["properties"]["type"] = schema["properties"].pop("memory_type")
        schema["required"].remove("memory_type")


@fault("LRO-FILE-11", says="id", proves=0, also=("LRO-FILE-09", "LRO-FILE-10", "LRO-REC-05"))
class id_is_called_memory_id(Shaped):
    """Another name for the id."""

    def shaped(self, record: Record) -> Record:
        return {"memory_id": record["id"], **{k: v for k, v in record.items() if k != "id"}}

    def reshape(self, schema: Record) -> None:
        schema["properties"]["memory_id"] = schema["properties"].pop("id")
        schema["required"].remove("id")


@fault("LRO-FILE-11", says="id is missing", proves=0, also=("LRO-DESC-09", "LRO-REC-04", "LRO-REC-09"))
class records_are_search_hits(Server):
    """Each line is a hit of the search service: a score, and the memory as a nested object."""

    def file_lines(self, call: Call) -> list[str]:
        hits = [{"score": record.pop("score", 1.0), "memory": record} for record in map(dict, call.records)]
        return [self.dumps(self.header(call)), *map(self.dumps, hits)]

    def scores(self, call: Call) -> list[float]:
        return [record.get("score", 1.0) for record in call.records]


# Beside inline results that are no JSON


@fault("LRO-FILE-09", says="missing", proves=0)
class file_lacks_the_last_memory_of_the_text(Markdown):
    """Inline results are Markdown; the file ends one memory early, and its header counts what is there."""

    def offload(self, call: Call) -> str:
        del call.records[-1:], call.found[-1:], call.lines[-1:]
        return super().offload(call)


@fault("LRO-FILE-10", says="as inline", proves=0)
class file_has_one_line_of_what_the_text_shows(Prose):
    """Inline results are prose; line feeds and tabs of a memory become spaces in the file."""

    def record_line(self, record: Record) -> str:
        content = record.get("content")
        return super().record_line({**record, "content": " ".join(content.split())} if content else record)


@fault("LRO-FILE-10", says="embedding", proves=0, explored=True)
class rounds_vectors(Server):
    """Two digits of each number of an embedding are enough to look at."""

    def record_line(self, record: Record) -> str:
        vector = record.get("embedding")
        return super().record_line({**record, "embedding": [round(n, 2) for n in vector]} if vector else record)


@fault("LRO-FILE-09", says="1 missing, 1 additional", proves=0, explored=True)
class cuts_ids_to_36_characters(Server):
    """The column of ids has room for a UUID."""

    def record_line(self, record: Record) -> str:
        return super().record_line({**record, "id": record["id"][:36]} if "id" in record else record)
