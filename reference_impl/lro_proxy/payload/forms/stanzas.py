"""Stanzas: groups of ``Key: value`` lines that repeat, set apart by blank lines, such as commits, mails or answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, takewhile
from typing import Any

from lro_proxy.payload.forms.form import (
    SMALL_SIZE,
    Data,
    Extra,
    Form,
    PayloadRecords,
    Record,
    decoded,
    is_rebuilt,
    of_batches,
)

_FIELD = re.compile(r"([A-Za-z][\w-]*(?: [\w-]+){0,2}): ?(.*)")
_MIN_STANZAS = 3
"""Minimum number of stanzas."""


def _stanzas(text: Data) -> PayloadRecords | None:
    lines = decoded(text, 0, len(text)).split("\n")
    first = _first_key(lines)
    starts = [n for n, line in enumerate(lines) if first is not None and line.startswith(f"{first}:")]
    if len(starts) < _MIN_STANZAS or any(lines[start - 1] for start in starts[1:]):
        return None
    end = len(lines) - _final_blank_lines(lines)
    stanzas = [lines[start:stop] for start, stop in pairwise([*starts, end])]
    keys = _common_beginning([_keys(stanza) for stanza in stanzas])
    if len(keys) < 2 or len(set(keys)) < len(keys):
        return None
    blank_lines = min(map(_final_blank_lines, stanzas[:-1]))
    stanzas[:-1] = [stanza[: len(stanza) - blank_lines] for stanza in stanzas[:-1]]
    records = [_record(stanza, keys) for stanza in stanzas]
    extra: Extra = {
        "format": "stanzas",
        "keys": keys,
        "colons": [": " if lines[starts[0] + n].startswith(f"{key}: ") else ":" for n, key in enumerate(keys)],
        "between": "\n" * (blank_lines + 1),
        "before": "".join(f"{line}\n" for line in lines[: starts[0]]),
        "after": "\n" * (len(lines) - end),
    }
    if len(extra["before"]) > SMALL_SIZE or not is_rebuilt(text, _rebuilt(extra, records)):
        return None
    return of_batches(lambda: [records], extra)


def _first_key(lines: Iterable[str]) -> str | None:
    """The first key that occurs at least `_MIN_STANZAS` times; None if there is no such key, or no second key."""
    keys = Counter(field[1] for line in lines if (field := _FIELD.fullmatch(line)))
    return next((key for key, count in keys.items() if count >= _MIN_STANZAS), None) if len(keys) > 1 else None


def _keys(stanza: Iterable[str]) -> list[str]:
    """The keys of the lines with which a stanza begins."""
    return [field[1] for field in takewhile(bool, map(_FIELD.fullmatch, stanza)) if field is not None]


def _common_beginning(sequences: list[list[str]]) -> list[str]:
    """The keys with which all stanzas begin."""
    return [names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*sequences, strict=False))]


def _final_blank_lines(stanza: list[str]) -> int:
    """Number of blank lines at the end."""
    return sum(1 for _ in takewhile(lambda line: not line, reversed(stanza)))


def _record(stanza: list[str], keys: list[str]) -> Record:
    """The values of a stanza by their keys; the last value has all further lines."""
    values = [line[len(key) + 1 :].removeprefix(" ") for key, line in zip(keys, stanza, strict=False)]
    return dict(zip(keys, [*values[:-1], "\n".join([values[-1], *stanza[len(keys) :]])], strict=True))


def _rebuilt(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    separator = extra["before"]
    fields = list(zip(extra["keys"], extra["colons"], strict=True))
    for record in records:
        yield separator + "\n".join(f"{key}{colon}{record[key]}" for key, colon in fields)
        separator = extra["between"]
    yield extra["after"]


STANZAS = Form("stanzas", lambda beginning: _first_key(beginning.split("\n")) is not None, _stanzas, _rebuilt)
