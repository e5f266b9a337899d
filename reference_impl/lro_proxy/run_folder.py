"""A private folder for the files of one run of the proxy."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from lro_reference.custodian import STALE_AFTER_S
from lro_reference.settings import Settings
from lro_spec.filenames import ulid_at

_PREFIX = "lro-run-"
_NAME = re.compile(rf"{_PREFIX}[0-9A-HJKMNP-TV-Z]{{26}}")


def with_run_folder(settings: Settings) -> Settings:
    """The settings, changed so that the files of this run go to a new folder within the output folder.

    The new folder is created when the first file is written.
    """
    folder = os.path.join(settings.folder, _PREFIX + ulid_at(datetime.now(UTC)))
    return replace(settings, output_dir=folder)


def clean_other_runs(folder: str, clean: Callable[[str], object]) -> None:
    """Clean the folders of other runs next to *folder*.

    A folder that is empty and was not changed recently is removed. An `OSError` is ignored.
    """
    parent = os.path.dirname(folder)
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(parent)):
            if _NAME.fullmatch(entry.name) and entry.path != folder and entry.is_dir(follow_symlinks=False):
                clean(entry.path)
                with contextlib.suppress(OSError):
                    # If the folder is younger, a run that has just started may be about to write to it.
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime >= STALE_AFTER_S:
                        os.rmdir(entry.path)


def remove_if_empty(folder: str) -> None:
    """Remove the folder of a run that is ending, unless the folder contains files."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)
