"""Files in the output folder that are not offloaded results.

One of them may be a register, in which a server lists its offloaded files (docs/interpretations.md, I-20).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.file import see_file
from lro_conformance.capture.records import Record, mentions_any
from lro_spec.filenames import parse_file_name

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench


def unnamed(bench: Bench, records: Iterable[Record]) -> tuple[str, ...]:
    """Names of files in the output folder that no descriptor named and that are not registers."""
    unnamed_files, folder = sorted(set(bench.files()) - bench.named_files), bench.output_dir
    if not unnamed_files or folder is None:
        return ()
    all_records, marks = list(records), _marks(bench.named_files, bench.editions.own.name)
    return tuple(name for name in unnamed_files if not is_register(folder / name, marks, all_records))


def _marks(named: Collection[str], edition: str) -> set[str]:
    """The texts by which a register would list the files: their ULIDs or, for a file without a valid name, the name."""
    found = {name: parse_file_name(name, edition=edition) for name in named}
    return {name if parsed is None else parsed.ulid for name, parsed in found.items()} - {""}


def is_register(path: Path, marks: Collection[str], records: Iterable[Record]) -> bool:
    """Return whether a file contains one of the *marks* (see `_marks`), and nothing of the *records* except ids."""
    text = see_file(str(path), (path.parent.resolve(),)).data.decode("utf-8", "replace")
    without_ids = ({k: v for k, v in record.items() if k != "id"} for record in records)
    return any(mark in text for mark in marks) and not mentions_any(text, without_ids)
