"""Files like the server's own, back-dated, and things beside them that cleanup has no business with."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from lro_conformance.capture.file import FileSeen
from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import file_name, ulid_at
from lro_spec.timestamps import parse

DAY = 86_400
OLD_S = 40 * DAY
"""The age of files that any TTL of the suite's is over for."""
AHEAD_S = 60
"""A date that is further in the future is none of writing."""
AN_ERA_S = 400 * DAY
"""A number in a header that is no further from now, in seconds or milliseconds, is a time."""
STRANGE = ("0", "recall-", "recall-0", "x")
"""What stands for operation and ULID in names that match the pattern, and tell no time."""


def plant(folder: Path, own: FileSeen, age_s: float, operation: str, edition: str = DEFAULT_EDITION) -> Path:
    """A complete file like the server's *own* one, just written, back-dated by *age_s* in name, header and
    modification time, which stays as far ahead of writing as it was: it may be the time at which the file expires."""
    age = timedelta(seconds=age_s)
    when = datetime.now(UTC) - age
    path = folder / file_name(operation, edition=edition, ulid=ulid_at(when))
    path.write_bytes(_backdated(own.data, age, operation))
    stamp = when.timestamp() + _ahead(own)
    with suppress(FileNotFoundError):  # a server that cleans up all the time may have been here
        path.chmod(0o600)
        os.utime(path, (stamp, stamp))
    return path


def _ahead(own: FileSeen) -> float:
    """How far the date of a file just written lies in the future; 0 where that is no more than clocks differ by."""
    ahead = (own.mtime or 0.0) - time.time()
    return ahead if ahead > AHEAD_S else 0.0


def operation_of(name: str) -> str:
    """The operation in the name of a file; empty if there is none."""
    return name.split("-")[1] if name.count("-") > 1 else ""


def _backdated(template: bytes, age: timedelta, operation: str) -> bytes:
    """The file as one of this operation, with the times in its header moved back by *age*, written as they were before:
    a header may also tell when the file expires."""
    first, _, rest = template.partition(b"\n")
    with suppress(ValueError):
        value = json.loads(first)
        header = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if isinstance(header.get("timestamp"), str):
            header |= {k: _moved(v, age) for k, v in header.items() if k != "query"}
            header |= {"operation": operation} if "operation" in header else {}
            first = json.dumps(header, ensure_ascii=False).encode()
    return first + b"\n" + rest


def _moved(value: Any, age: timedelta) -> Any:
    """A time that is so much earlier, as text or as a number of seconds or milliseconds; anything else as it is."""
    with suppress(OverflowError):  # what no clock tells
        if isinstance(value, str):
            return _before(value, age)
        for unit in (1, 1000) if isinstance(value, int | float) else ():
            if abs(value - time.time() * unit) < AN_ERA_S * unit:
                return type(value)(value - age.total_seconds() * unit)
    return value


def _before(sample: str, age: timedelta) -> str:
    """A timestamp that is so much earlier; in the form and the zone of the *sample*, whatever that is."""
    form = re.match(r"\d{4}(-?)\d\d-?\d\d([Tt ])\d\d(:?)\d\d(\3\d\d)?", sample)
    moment = parse(sample)
    if form is None or moment is None:
        return sample
    day, clock = form[1].join(("%Y", "%m", "%d")), form[3].join(("%H", "%M", "%S") if form[4] else ("%H", "%M"))
    return (moment - age).strftime(f"{day}{form[2]}{clock}") + sample[form.end() :]


def plant_decoys(folder: Path, workdir: Path, template: bytes, operation: str, edition: str) -> list[tuple[Path, str]]:
    """Old things that do not match the pattern, are not files directly in the folder, or lie behind a link.

    They are old in all that can be seen, as planted files are: a server may go by the header's timestamp.
    """
    template = _backdated(template, timedelta(seconds=OLD_S), operation)
    past = datetime.now(UTC) - timedelta(seconds=OLD_S)
    prefix = edition_named(edition).file_prefix

    def another() -> str:
        return file_name(operation, edition=edition, ulid=ulid_at(past))

    name = another()
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
    made = [(folder / n, "name") for n in dict.fromkeys(names)]
    made = [(path, kind) for path, kind in made if not os.path.lexists(path)]
    for path, _ in made:
        path.write_bytes(template)
    below = folder / "archive"
    below.mkdir(exist_ok=True)
    made.append((below / another(), "subfolder"))
    made[-1][0].write_bytes(template)
    directory = folder / another()
    directory.mkdir()
    made.append((directory / "keep.txt", "folder"))
    made[-1][0].write_bytes(b"keep\n")
    outside = workdir / "elsewhere"
    outside.mkdir(exist_ok=True)
    target = outside / another()
    target.write_bytes(template)
    made.append((target, "symlink"))
    link = folder / another()
    link.symlink_to(target)
    linked = workdir / "linked"
    linked.mkdir(exist_ok=True)
    made.append((linked / another(), "symlink"))
    made[-1][0].write_bytes(template)
    (folder / "shortcut").symlink_to(linked, target_is_directory=True)
    stamp = past.timestamp()
    for path in [*(p for p, _ in made), link, below, directory, linked]:
        with suppress(FileNotFoundError):
            os.utime(path, (stamp, stamp), follow_symlinks=False)
    return made


def plant_in_the_way(folder: Path, operation: str, convention: str) -> dict[Path, str]:
    """Old things whose names match the pattern and that are no files of a server, made anew: what each is called."""
    prefix = edition_named(convention).file_prefix
    made = {path: path.name for path in (folder / f"{prefix}-{word}.jsonl" for word in STRANGE)}
    for path in made:
        path.write_bytes(b"" if path.name.endswith("0.jsonl") else b"no header\n")
    past = datetime.fromtimestamp(0, UTC)
    directory, link = (folder / file_name(operation, edition=convention, ulid=ulid_at(past)) for _ in range(2))
    directory.mkdir()
    link.symlink_to(folder / "nowhere")
    made |= {directory: f"{directory.name} (a folder)", link: f"{link.name} (a link to nowhere)"}
    for path in made:
        with suppress(FileNotFoundError):
            os.utime(path, (0, 0), follow_symlinks=False)
    return made
