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
    """Path relative to the folder."""
    modified: int
    """Time of the last modification, in seconds since the epoch."""
    text: str | None = None
    """The first line of a file; None if the entry is not a file."""
    target: str | None = None
    """The target of a link; None if the entry is not a link. If both `text` and `target` are None, the entry is a
    folder."""


@dataclass(frozen=True)
class Start:
    """The start of one server process: how it was started, but not what happened then."""

    number: int
    """Number of the start in the run, counted from 1."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Environment variables that the server gets in addition to those of the suite."""
    unset: tuple[str, ...]
    """Environment variables of the suite that the server does not get."""
    cwd: Path
    workdir: Path
    """The private folder of this process."""
    temp: Path
    """The folder of this process for temporary files (TMPDIR)."""
    settings: Mapping[str, object]
    """The LRO settings of the process."""
    output_dir: Path | None
    """The configured output folder; None if none was set."""
    file_size_limit: int | None = None
    """Size of the largest file that the server may write, in bytes; None if there is no limit."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that were written for the server before the start, as a mapping of paths to texts."""
    planted: tuple[Entry, ...] = ()
    """Entries of the output folder before the start. They were left by an earlier process, or put there by the suite
    for an experiment."""
    seed: tuple[str, str] | None = None
    """The tool that stores memories in the server, and the template of its arguments as JSON."""
    seed_file: Path | None = None
    """File with the suite's memories, which was written before the start. It is read by the seed command before the
    start, or by the server itself."""
    seed_command: tuple[str, ...] = ()
    """Command that was run with the seed file before the start."""
    python: str = "python3"
    """The Python interpreter of the suite."""
    sent: Callable[[], Iterable[bytes]] = field(default=_silence, compare=False, repr=False, metadata={"kept": False})
    """Returns the lines that were sent to the server so far."""
    seeded: tuple[Start, tuple[int, ...]] | None = field(
        default=None, compare=False, repr=False, metadata={"kept": False}
    )
    """If the server was restarted: the last earlier process in which requests stored the suite's memories, and the ids
    of these requests. None if there was no such process."""
    lines: dict[int, int] = field(default_factory=dict[int, int], compare=False, repr=False, metadata={"kept": False})
    """The number of each request's line in the transcript, counted from 1, by the request's id. Empty if nothing is
    recorded."""

    @property
    def folder(self) -> str:
        """The folder of this process in recorded evidence."""
        return f"servers/{self.number:04}"
