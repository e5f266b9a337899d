"""One start of a server: what started it, in which folders, and what was said to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HANDSHAKE = ("initialize", "notifications/initialized", "logging/setLevel", "server/discover")
"""The methods of what is said before anything else."""


def _silence() -> Iterable[bytes]:
    return ()


@dataclass(frozen=True)
class Start:
    """One server process, as it was started. It says nothing of what came of it."""

    number: int
    """Counted from 1 within a run."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Added to the environment of the suite."""
    unset: tuple[str, ...]
    """Taken out of it."""
    cwd: Path
    workdir: Path
    """The private folder of this process."""
    temp: Path
    """Its folder for temporary files (TMPDIR)."""
    settings: Mapping[str, object]
    """The LRO settings that were set."""
    output_dir: Path | None
    """The output folder that was set; None where none was."""
    file_size_limit: int | None = None
    """Size of the largest file that the server may write, in bytes; None if there is no limit."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that it was given: path and text."""
    seed: tuple[str, str] | None = None
    """The tool that memories were given to it with, and the template of its arguments as JSON."""
    seed_file: Path | None = None
    """File with the suite's memories, which the server or the seed command reads before the start."""
    seed_command: tuple[str, ...] = ()
    """Command that was run with that file before the start."""
    python: str = "python3"
    """The interpreter that the suite ran in."""
    sent: Callable[[], Iterable[bytes]] = field(default=_silence, compare=False, repr=False, metadata={"kept": False})
    """The lines that were sent to it, so far."""
    lines: dict[int, int] = field(default_factory=dict[int, int], compare=False, repr=False, metadata={"kept": False})
    """Where in the transcript each request stands, counted from 1, by its id; empty where none is recorded."""

    @property
    def folder(self) -> str:
        """Its folder in recorded evidence."""
        return f"servers/{self.number:04}"
