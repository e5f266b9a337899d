"""Back-dated copies of the server's files, and decoys that cleanup must not touch."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.start import Entry
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import file_name, ulid_at
from lro_spec.timestamps import parse

DAY = 86_400
HOUR = 3600
"""An hour in seconds, which is also the default TTL."""
OLD_AGE_S = 40 * DAY
"""An age, in seconds, above every TTL that the suite sets."""
MAX_AHEAD_S = 60
"""A modification time that lies more than this many seconds in the future cannot be the time of writing."""
MAX_DISTANCE_S = 400 * DAY
"""A number in a header counts as a time, in seconds or milliseconds, if that time is within this distance from now."""
STRANGE_MIDDLES = ("0", "recall-", "recall-0", "x")
"""Middle parts of file names that match the pattern but have no ULID."""


def plant(folder: Path, own: FileSeen, age_s: float, operation: str, edition: str = DEFAULT_EDITION) -> Path:
    """Write a copy of the server's *own* file, back-dated by *age_s* in name, header and modification time.

    If the modification time of *own* is more than `MAX_AHEAD_S` seconds in the future, it may be the time at which the
    file expires. In this case, the modification time of the copy is later than its back-dated time of writing, by as
    many seconds as the modification time of *own* is in the future.
    """
    age = timedelta(seconds=age_s)
    when = datetime.now(UTC) - age
    path = folder / file_name(operation, edition=edition, ulid=ulid_at(when))
    path.write_bytes(_backdated(own.data, age, operation))
    modified = when.timestamp() + _seconds_ahead(own)
    with suppress(FileNotFoundError):  # a server that cleans up continuously may have deleted it
        path.chmod(0o600)
        os.utime(path, (modified, modified))
    return path


def folder_with_a_file(call: Call, age_s: float, edition: str, planted: list[Path]) -> Callable[[Path], None]:
    """A function that makes an output folder with a back-dated copy of a call's file, and adds the path of the copy to
    *planted*."""

    def make(folder: Path) -> None:
        folder.mkdir()
        if call.file is not None:
            planted.append(plant(folder, call.file, age_s, call.operation, edition))

    return make


def _seconds_ahead(own: FileSeen) -> float:
    """Seconds by which a file's modification time is in the future; 0 if differing clocks may be the reason."""
    ahead = (own.mtime or 0.0) - time.time()
    return ahead if ahead > MAX_AHEAD_S else 0.0


def operation_of(name: str) -> str:
    """The operation in the name of a file; empty if there is none."""
    return name.split("-")[1] if name.count("-") > 1 else ""


def _backdated(template: bytes, age: timedelta, operation: str) -> bytes:
    """The *template* as a file of this operation, with the times in its header moved back by *age*, in their format.

    All members of the header with a time are changed, not only the timestamp, because another member may be the time at
    which the file expires. The member ``query`` is never changed. Without a valid header that has a timestamp, the
    content is unchanged.
    """
    first, line_feed, rest = template.partition(b"\n")
    with suppress(ValueError):
        value = json.loads(first)
        header = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if isinstance(header.get("timestamp"), str):
            header |= {k: _moved(v, age) for k, v in header.items() if k != "query"}
            header |= {"operation": operation} if "operation" in header else {}
            first = json.dumps(header, ensure_ascii=False).encode()
    return first + line_feed + rest


def _moved(value: Any, age: timedelta) -> Any:
    """A time earlier by *age*, as text or as a number of seconds or milliseconds; any other value unchanged."""
    with suppress(OverflowError):  # not a representable time
        if isinstance(value, str):
            return _earlier_timestamp(value, age)
        for unit in (1, 1000) if isinstance(value, int | float) else ():
            if abs(value - time.time() * unit) < MAX_DISTANCE_S * unit:
                return type(value)(value - age.total_seconds() * unit)
    return value


def _earlier_timestamp(sample: str, age: timedelta) -> str:
    """A timestamp earlier by *age*, in the format and time zone of the *sample*."""
    form = re.match(r"\d{4}(-?)\d\d-?\d\d([Tt ])\d\d(:?)\d\d(\3\d\d)?", sample)
    moment = parse(sample)
    if form is None or moment is None:
        return sample
    day, clock = form[1].join(("%Y", "%m", "%d")), form[3].join(("%H", "%M", "%S") if form[4] else ("%H", "%M"))
    return (moment - age).strftime(f"{day}{form[2]}{clock}") + sample[form.end() :]


def plant_decoys(folder: Path, workdir: Path, template: bytes, operation: str, edition: str) -> list[tuple[Path, str]]:
    """Plant old files of each kind that `cleanup.Decoy` lists. Returns their paths, each with its kind.

    All decoys except one are copies of *template* with an old header, because a server may decide by the header's
    timestamp.
    """
    template = _backdated(template, timedelta(seconds=OLD_AGE_S), operation)
    past = datetime.now(UTC) - timedelta(seconds=OLD_AGE_S)
    prefix = edition_named(edition).file_prefix

    def new_name() -> str:
        return file_name(operation, edition=edition, ulid=ulid_at(past))

    name = new_name()
    names = [
        *(
            f"{name}.bak",
            f"x{name}",
            f".{name}",
            f"{name}~",
            name.replace(".jsonl", ".json"),
            name.replace(".jsonl", ""),
        ),
        *(
            "notes.txt",
            "data.jsonl",
            "README",
            f"{prefix}.db",
            f"{prefix}.jsonl",
            "other-recall.jsonl",
            f"{prefix}_recall.jsonl",
        ),
        name.replace(f"{prefix}-", f"{prefix[:-1]}-"),
        name.replace(f"{prefix}-", f"my-{prefix}-"),
    ]
    decoys = [(folder / n, "name") for n in dict.fromkeys(names)]
    decoys = [(path, kind) for path, kind in decoys if not os.path.lexists(path)]
    for path, _ in decoys:
        path.write_bytes(template)
    below = folder / "archive"
    below.mkdir(exist_ok=True)
    decoys.append((below / new_name(), "subfolder"))
    decoys[-1][0].write_bytes(template)
    directory = folder / new_name()
    directory.mkdir()
    decoys.append((directory / "keep.txt", "folder"))
    decoys[-1][0].write_bytes(b"keep\n")
    outside = workdir / "elsewhere"
    outside.mkdir(exist_ok=True)
    target = outside / new_name()
    target.write_bytes(template)
    decoys.append((target, "symlink"))
    link = folder / new_name()
    link.symlink_to(target)
    linked = workdir / "linked"
    linked.mkdir(exist_ok=True)
    decoys.append((linked / new_name(), "symlink"))
    decoys[-1][0].write_bytes(template)
    (folder / "shortcut").symlink_to(linked, target_is_directory=True)
    stamp = past.timestamp()
    for path in [*(p for p, _ in decoys), link, below, directory, linked]:
        with suppress(FileNotFoundError):
            os.utime(path, (stamp, stamp), follow_symlinks=False)
    return decoys


def plant_odd_entries(folder: Path, operation: str, edition: str) -> list[Entry]:
    """Plant old entries whose names match the pattern, but that were not written by a server: files with odd names, a
    folder, and a link to nowhere."""
    prefix = edition_named(edition).file_prefix
    names = [f"{prefix}-{word}.jsonl" for word in STRANGE_MIDDLES]
    entries = [Entry(name, 0, text="" if name.endswith("0.jsonl") else "no header\n") for name in names]
    past = datetime.fromtimestamp(0, UTC)
    directory, link = (file_name(operation, edition=edition, ulid=ulid_at(past)) for _ in range(2))
    entries += [Entry(directory, 0), Entry(link, 0, target=str(folder / "nowhere"))]
    for entry in entries:
        path = folder / entry.path
        if entry.target is not None:
            path.symlink_to(entry.target)
        elif entry.text is not None:
            path.write_text(entry.text, encoding="utf-8")
        else:
            path.mkdir()
        with suppress(FileNotFoundError):
            os.utime(path, (entry.modified, entry.modified), follow_symlinks=False)
    return entries
