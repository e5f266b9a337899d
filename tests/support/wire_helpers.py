"""What the tests of the wire share: starting a small server, and looking at processes."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.paths import SERVERS

MISBEHAVING = SERVERS / "wire" / "misbehaving.py"


def command(name: str, *arguments: str | bytes) -> list[str]:
    """The command line of one of the servers in ``wire_servers``."""
    return [sys.executable, "-S", "-E", str(MISBEHAVING), name, *map(os.fsdecode, arguments)]


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has reaped yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return not Path("/proc/self/stat").exists()
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def eventually(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def marked(variable: str, value: str) -> list[str]:
    """The command lines of the processes that live and have this in their environment."""
    needle = f"{variable}={value}".encode()
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:  # gone, or somebody else's
                continue
    return found
