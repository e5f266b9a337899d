"""The custodial task ``offload_cleanup``: delete offloaded files whose time to live has passed.

It deletes expired regular files directly in the folder that are named like an offloaded result, and temporary files
that a process left when it died. The ULID in a file's name is the time of its creation; if the name has no ULID, the
modification time counts. In a folder of messages that were moved out of conversations (`CONTEXT_PREFIX`), files expire
by their modification times, and the folder is removed if it is empty and was unchanged for some minutes. Symbolic links
and all other entries stay.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lro_reference.events import FILE_EXPIRED, Emit, Event, timestamp
from lro_reference.writer import TEMPORARY_SUFFIX
from lro_spec.editions import Edition
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import is_expired, parse_file_name

CONTEXT_PREFIX = "lro-context-"
"""Prefix of a process's folder for messages moved out of conversations; a ULID follows."""
STALE_AFTER_S = 600
"""Age in seconds at which an unchanged temporary file is assumed to be left by a process that died while writing. An
empty folder of messages is removed only if it is unchanged for as long, because its process may be about to write."""

_CONTEXT = re.compile(rf"{CONTEXT_PREFIX}[0-9A-HJKMNP-TV-Z]{{26}}")
_CONTEXT_FILE = re.compile(r"tool_call_.*\.txt|compressed_group_.*\.json")
_NO_FOLDER_ERRORS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


@dataclass(frozen=True, slots=True)
class Cleanup:
    """Outcome of one run."""

    deleted: list[str] = field(default_factory=list[str])
    """Paths of the expired files that were deleted."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """The reason of each failure, by the path that could not be deleted. It is by the path of a folder if the folder
    cannot be read, or if a file in a folder of messages could not be deleted."""


def clean(
    folder: str,
    ttl_seconds: int,
    emit: Emit,
    *,
    edition: str = "lro-6400",
    now: float | None = None,
    ulid_only: bool = False,
) -> Cleanup:
    """Delete the expired files of ``folder`` and emit an event for each.

    ``now`` is in seconds since the epoch. With ``ulid_only`` a name must hold a ULID: the pattern of an edition
    alone may be too common for a shared folder. What could not be read or deleted is in the result; no `OSError` is
    raised for such failures.
    """
    result = Cleanup()
    now = time.time() if now is None else now
    known_edition = edition_named(edition)
    try:
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return result
    except OSError as problem:
        result.failed[folder] = problem.strerror or str(problem)
        return result
    try:
        try:
            names = sorted(os.listdir(directory))
        except OSError as problem:
            result.failed[folder] = problem.strerror or str(problem)
            return result
        for name in names:
            if _CONTEXT.fullmatch(name):
                _clean_context(name, directory, folder, ttl_seconds, now, emit, result)
                continue
            if ulid_only and _ulid_time(name.removeprefix(".").removesuffix(TEMPORARY_SUFFIX), known_edition) is None:
                continue
            _clean_file(name, directory, folder, ttl_seconds, now, known_edition, emit, result)
    finally:
        os.close(directory)
    return result


def _clean_file(
    name: str, directory: int, folder: str, ttl_seconds: int, now: float, edition: Edition, emit: Emit, result: Cleanup
) -> None:
    temporary = _is_temporary(name, edition)
    if not temporary and not edition.is_file_name(name):
        return
    path = os.path.join(folder, name)
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            return
        if temporary:
            if now - status.st_mtime >= STALE_AFTER_S:
                os.unlink(name, dir_fd=directory)
            return
        created = _creation_time(name, status.st_mtime, edition)
        if not is_expired(now - created, ttl_seconds):
            return
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:  # another process was quicker
        return
    except OSError as problem:
        result.failed[path] = problem.strerror or str(problem)
        return
    _record_deletion(path, created, ttl_seconds, now, emit, result)


def _record_deletion(path: str, created: float, ttl_seconds: int, now: float, emit: Emit, result: Cleanup) -> None:
    result.deleted.append(path)
    details = {
        "path": path,
        "created_at": timestamp(datetime.fromtimestamp(created, UTC)),
        "ttl_seconds": ttl_seconds,
        "age_seconds": round(now - created, 3),
    }
    emit(Event(FILE_EXPIRED, "info", details))


def _clean_context(
    name: str, directory: int, folder: str, ttl_seconds: int, now: float, emit: Emit, result: Cleanup
) -> None:
    path = os.path.join(folder, name)
    try:
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
    except OSError as problem:
        if problem.errno not in _NO_FOLDER_ERRORS:
            result.failed[path] = problem.strerror or str(problem)
        return
    try:
        in_use = (
            now - os.fstat(inner).st_mtime < STALE_AFTER_S
        )  # may have been created just now, and about to be written to
        for entry in sorted(os.listdir(inner)):
            complete = _CONTEXT_FILE.fullmatch(entry)
            if not complete and not (entry.startswith(".") and entry.endswith(TEMPORARY_SUFFIX)):
                continue
            status = os.stat(entry, dir_fd=inner, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and now - status.st_mtime >= (ttl_seconds if complete else STALE_AFTER_S):
                os.unlink(entry, dir_fd=inner)
                if complete:
                    _record_deletion(os.path.join(path, entry), status.st_mtime, ttl_seconds, now, emit, result)
        if not in_use:
            with contextlib.suppress(OSError):  # not empty yet
                os.rmdir(name, dir_fd=directory)
    except FileNotFoundError:  # another process was quicker
        return
    except OSError as problem:
        result.failed[path] = problem.strerror or str(problem)
    finally:
        os.close(inner)


def _is_temporary(name: str, edition: Edition) -> bool:
    # The complete name of an offloaded file is required: a hidden file that looks similar belongs to another program.
    inner = name.removeprefix(".").removesuffix(TEMPORARY_SUFFIX)
    return (
        len(inner) == len(name) - 1 - len(TEMPORARY_SUFFIX)
        and edition.is_file_name(inner)
        and _ulid_time(inner, edition) is not None
    )


def _creation_time(name: str, modified: float, edition: Edition) -> float:
    from_name = _ulid_time(name, edition)
    return modified if from_name is None else from_name


def _ulid_time(name: str, edition: Edition) -> float | None:
    parsed = parse_file_name(name, edition=edition.name)
    return None if parsed is None else parsed.created.timestamp()
