"""A folder for the files of one run of the proxy, which no other run writes to."""

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
from lro_spec.naming import ulid_at

_PREFIX = "lro-run-"
_NAME = re.compile(rf"{_PREFIX}[0-9A-HJKMNP-TV-Z]{{26}}")


def own(settings: Settings) -> Settings:
    """The settings of a run with a folder of its own in the output folder; it is made with the first file."""
    folder = os.path.join(settings.folder, _PREFIX + ulid_at(datetime.now(UTC)))
    return replace(settings, output_dir=folder)


def clean_others(folder: str, clean: Callable[[str], object]) -> None:
    """Has the folders of other runs beside *folder* cleaned, and removes those that are empty. Never raises."""
    parent = os.path.dirname(folder)
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(parent)):
            if _NAME.fullmatch(entry.name) and entry.path != folder and entry.is_dir(follow_symlinks=False):
                clean(entry.path)
                with contextlib.suppress(OSError):
                    # A run that has only begun may be about to write to it.
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime >= STALE_AFTER_S:
                        os.rmdir(entry.path)


def leave(folder: str) -> None:
    """Removes the folder of a run that ends, unless it still holds files."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)
