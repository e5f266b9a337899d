"""Names of offloaded files: ``{prefix}-{operation}-{ulid}.jsonl`` (section "File Naming").

The ULID makes the name unique. Its first 48 bits are the time at which the file was created. The prefix and the
operations depend on the edition of the specification, whose name is an argument of the functions (``lro-6400`` by
default; see `lro_spec.editions`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lro_spec.editions import edition as _edition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_DATETIME = datetime.max.replace(tzinfo=UTC)
_RANDOM_BYTES = 10
# Crockford's base 32 leaves out I, L, O and U. The first character has only three bits, because 26 characters of five
# bits have 130 bits, and a ULID has 128.
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE | re.ASCII)
_CROCKFORD_TO_PYTHON = str.maketrans("0123456789ABCDEFGHJKMNPQRSTVWXYZ", "0123456789abcdefghijklmnopqrstuv")
_OPERATION = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*", re.ASCII)
_NAME = re.compile(rf"(?P<operation>{_OPERATION.pattern})-(?P<ulid>[0-9A-Za-z]{{26}})\.jsonl", re.ASCII)


def real_path(path: str) -> str:
    """Return the path with symbolic links resolved. A text that cannot name a file is returned unchanged."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # NUL, a lone surrogate
        return path


@dataclass(frozen=True, slots=True)
class FileName:
    """The parts of an offloaded file's name."""

    prefix: str
    operation: str
    """The operation as it is written in the name. It may be an operation that the edition does not know."""
    ulid: str
    """The ULID as it is written in the name. Its canonical spelling is upper case; lower case is also accepted."""
    created: datetime
    """Time of the ULID (UTC, to the millisecond). A time after the year 9999 is represented by `datetime.max`."""
    milliseconds: int
    """Time of the ULID in milliseconds since 1970, exact for every ULID."""
    random: bytes
    """The ten bytes after the time."""


def file_name(operation: str, *, edition: str = "lro-6400", ulid: str | None = None) -> str:
    """The name of a file for this operation, with *ulid* or else a new, unpredictable ULID of the current time.

    Raises `ValueError` for an operation that the edition does not know or that cannot be part of a file name, for an
    invalid ULID, and for an unknown edition.
    """
    facts = _edition(edition)
    if facts.operations and operation not in facts.operations:
        raise ValueError(f"unknown operation {operation!r}: {edition} has {', '.join(facts.operations)}")
    if not _OPERATION.fullmatch(operation):
        raise ValueError(f"{operation!r} cannot be part of a file name: expected letters, digits, _ and inner -")
    if ulid is None:
        ulid = ulid_at(datetime.now(UTC))
    elif not _ULID.fullmatch(ulid):
        raise ValueError(f"{ulid!r} is not a ULID: expected 26 characters of Crockford's base 32, the first at most 7")
    return f"{facts.file_prefix}-{operation}-{ulid}.jsonl"


def parse_file_name(name: str, *, edition: str = "lro-6400") -> FileName | None:
    """Return the parts of a bare file name, or None if the name does not follow the edition's convention.

    An operation that the edition does not know is accepted here, so that the caller can report it. Raises `ValueError`
    for an unknown edition.
    """
    prefix = _edition(edition).file_prefix
    if not name.startswith(f"{prefix}-"):
        return None
    match = _NAME.fullmatch(name, len(prefix) + 1)
    if match is None or not _ULID.fullmatch(match["ulid"]):
        return None
    raw = _decode(match["ulid"])
    milliseconds = int.from_bytes(raw[:6])
    return FileName(prefix, match["operation"], match["ulid"], _time_of(milliseconds), milliseconds, raw[6:])


def is_expired(age_s: float, ttl_s: float) -> bool:
    """True if a file has expired: its time to live has elapsed since its creation."""
    return age_s >= ttl_s


def ulid_at(when: datetime) -> str:
    """A new ULID of the given time, to the millisecond, with fresh random bytes.

    The random bytes are also fresh if two ULIDs have the same millisecond: with a counter instead, the next ULID could
    be guessed. Raises `ValueError` for a naive datetime, and for a time before 1970, which a ULID cannot express.
    """
    from ulid import ULID

    if when.tzinfo is None:
        raise ValueError("a ULID needs an unambiguous time: expected an aware datetime, got a naive one")
    milliseconds = (when - _EPOCH) // timedelta(milliseconds=1)
    if milliseconds < 0:  # no upper bound is needed: the end of the year 9999, the latest datetime, fits into 48 bits
        raise ValueError(f"a ULID cannot express {when.isoformat()}: its time starts in 1970")
    return str(ULID.from_bytes(milliseconds.to_bytes(6) + os.urandom(_RANDOM_BYTES)))


def parse_ulid(text: str) -> datetime | None:
    """Return the time of a ULID in UTC, or None if the text is not a ULID.

    A time after the year 9999 is represented by `datetime.max`.
    """
    return _time_of(int.from_bytes(_decode(text)[:6])) if _ULID.fullmatch(text) else None


def ulid_time(ulid: str) -> datetime:
    """Time of a ULID, as `parse_ulid` returns it. Raises `ValueError` if it is not a ULID."""
    created = parse_ulid(ulid)
    if created is None:
        raise ValueError(f"{ulid!r} is not a ULID: expected 26 characters of Crockford's base 32, the first at most 7")
    return created


def _decode(ulid: str) -> bytes:
    # python-ulid is not used here, because importing it takes a third of the time that validating a descriptor takes.
    return int(ulid.upper().translate(_CROCKFORD_TO_PYTHON), 32).to_bytes(16)


def _time_of(milliseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return _MAX_DATETIME
