"""Recorded evidence is kept in archives."""

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into a folder, with the filter for foreign data where Python has it (from 3.11.4 on)."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        opened.extractall(folder)
