"""One start of a server: command, folders, and the lines that were sent to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HANDSHAKE = ("initialize", "notifications/initialized", "logging/setLevel", "server/discover")
"""The methods of the messages that open a conversation."""


def _silence() -> Iterable[bytes]:
    return ()


@dataclass(frozen=True)
class Entry:
    """A file, a folder or a link in the output folder of a server that is about to be started."""

    path: str
    """Path below the folder."""
    modified: int
    """Time of the last modification, in seconds since the epoch."""
    text: str | None = None
    """The first line of a file; None if the entry is not a file."""
    target: str | None = None
    """The target of a link; None if the entry is not a link. An entry that is neither is a folder."""


@dataclass(frozen=True)
class Start:
    """The start of one server process, without its outcome."""

    number: int
    """Its number in the run, from 1."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Variables that are added to the environment of the suite."""
    unset: tuple[str, ...]
    """Variables that are removed from it."""
    cwd: Path
    workdir: Path
    """The private folder of this process."""
    temp: Path
    """Its folder for temporary files (TMPDIR)."""
    settings: Mapping[str, object]
    """The LRO settings of the process."""
    output_dir: Path | None
    """The configured output folder; None if none was set."""
    file_size_limit: int | None = None
    """Size of the largest file that the server may write, in bytes; None if there is no limit."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that were written for it: path and text."""
    planted: tuple[Entry, ...] = ()
    """Entries of the output folder before the start, left by an earlier process or planted for an experiment."""
    seed: tuple[str, str] | None = None
    """The tool that stores memories in the server, and the template of its arguments as JSON."""
    seed_file: Path | None = None
    """File with the suite's memories, written before the start: the seed command reads it before the start, or the
    server itself reads it."""
    seed_command: tuple[str, ...] = ()
    """Command that was run with that file before the start."""
    python: str = "python3"
    """The Python interpreter of the suite."""
    sent: Callable[[], Iterable[bytes]] = field(default=_silence, compare=False, repr=False, metadata={"kept": False})
    """Returns the lines that were sent to it so far."""
    seeded: tuple[Start, tuple[int, ...]] | None = field(
        default=None, compare=False, repr=False, metadata={"kept": False}
    )
    """If the server was restarted: the last earlier process in which the suite's memories were stored by requests, and
    the ids of these requests. None if there was no such process."""
    lines: dict[int, int] = field(default_factory=dict[int, int], compare=False, repr=False, metadata={"kept": False})
    """The line of each request in the transcript, from 1, by the request's id; empty if nothing is recorded."""

    @property
    def folder(self) -> str:
        """Its folder in recorded evidence."""
        return f"servers/{self.number:04}"
