"""A reader of offloaded files, as small as it can be: `is_valid` tells whether a file is valid."""

import json
from datetime import datetime


def is_text(value):
    return isinstance(value, str)


def is_count(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == int(value)


def is_time(value):
    try:
        return is_text(value) and value[10:11] == "T" and datetime.fromisoformat(value.upper()).tzinfo is not None
    except ValueError:
        return False


def is_id(value):
    return (is_text(value) and value != "") or (isinstance(value, int | float) and not isinstance(value, bool))


def is_tags(value):
    return isinstance(value, list) and all(map(is_text, value))


HEADER = {
    "type": lambda value: value == "lro_header",
    "operation": is_text,
    "count": is_count,
    "schema_version": lambda value: is_text(value) and value != "",
    "timestamp": is_time,
    "estimated_tokens": is_count,
    "detail": is_text,
    "query": lambda value: value is None or is_text(value),
}
TEXTS = ("title", "namespace", "memory_type", "status", "created", "modified", "content")
RECORD = {**dict.fromkeys(TEXTS, is_text), "tags": is_tags, "provenance": lambda value: isinstance(value, dict)}


def refuse(word):
    raise ValueError(f"{word} is no JSON")


def is_valid(data):
    try:
        text = data.decode().removesuffix("\n")
        header, *records = [json.loads(line, parse_constant=refuse) for line in text.split("\n")]
    except ValueError:
        return False
    if not all(isinstance(line, dict) for line in (header, *records)):
        return False
    if not all(fits(header.get(name)) for name, fits in HEADER.items()) or header["count"] != len(records):
        return False
    if any(record.get("type") == "lro_header" for record in records):
        return False
    if "extra" in header:  # the records of a proxy have any form
        return True
    if not all(is_id(record.get("id")) for record in records):
        return False
    fits = all(is_kind(r[name]) for r in records for name, is_kind in RECORD.items() if r.get(name) is not None)
    return fits and len({record["id"] for record in records}) == len(records)
