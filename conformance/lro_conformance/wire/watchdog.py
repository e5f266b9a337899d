"""Cleanup after a run: kills the process groups of the run and the processes with its marker, and removes its folders.

The suite imports this module. It also runs this file as a script: the guard, a process that outlives the suite
(``python -I -S watchdog.py PARENT_PID``, see `lro_conformance.wire.reaper`). So the module imports only parts of the
standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

MARKER = "LRO_CERTIFY_RUN"
"""The environment variable that marks a server and everything that it starts."""

_PATIENCE_S = 5.0
"""Longest time, in seconds, for which the guard tries to kill processes or to remove a folder."""


def marked(value: bytes) -> list[int]:
    """Return the running processes whose marker begins with *value*. If *value* ends with NUL, it has to be the
    complete marker.

    Linux only.
    """
    return _scan(value)[0]


def kill_marked(value: bytes, patience_s: float = 2.0) -> int:
    """Kill the processes found by `marked` until there are none, but not longer than *patience_s* seconds. Returns the
    number of killed processes."""
    killed: set[int] = set()
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        pids, is_incomplete = _scan(value)
        if not pids and not is_incomplete:
            break
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.002)
    return len(killed)


def _scan(value: bytes) -> tuple[list[int], bool]:
    """Return the processes with the marker, and True if the marker of another process cannot be read yet, because that
    process is inside ``execve``."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return [], False
    needle = b"\0" + MARKER.encode() + b"=" + value
    own_pid = str(os.getpid())
    pids: list[int] = []
    is_incomplete = False
    for name in names:
        if name.isdigit() and name != own_pid:
            environment = _environment(name)
            if environment is None:
                is_incomplete = True
            elif needle in b"\0" + environment:
                pids.append(int(name))
    return pids, is_incomplete


def _environment(pid: str) -> bytes | None:
    """Return the environment of a process. It is empty if this process may not read it, and None while the process is
    inside ``execve``.

    During ``execve``, the old environment is gone, and the new environment is not visible yet. This may take some time
    if the machine is busy. Without the special value None, a child that a server started just before its end would be
    overlooked.
    """
    if found := _read_all(f"/proc/{pid}/environ"):
        return found
    try:
        os.readlink(f"/proc/{pid}/exe")  # zombies and kernel threads have none
    except OSError:
        return b""
    fields = _read_all(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) > _ENV_END and fields[_ENV_END] == b"0":
        return None
    return _read_all(f"/proc/{pid}/environ")


_ENV_END = 48
"""The index of env_end in ``/proc/PID/stat``, counted from the field after the name."""


def _read_all(path: str) -> bytes:
    parts: list[bytes] = []
    with suppress(OSError):  # the process has ended, or belongs to a different user
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while part := os.read(fd, 65536):
                parts.append(part)
        finally:
            os.close(fd)
    return b"".join(parts)


def kill_group(group: int, number: int) -> None:
    """Send a signal to a process group. It is not an error if the group has already ended."""
    with suppress(OSError):
        os.killpg(group, number)


def remove_tree(path: str | bytes, patience_s: float = _PATIENCE_S) -> bool:
    """Remove a folder with its contents, including read-only folders. Returns False if something could not be removed.

    Removal is tried repeatedly for *patience_s* seconds, because a process that was just killed may still have been
    writing into the folder.
    """
    import shutil

    deadline = time.monotonic() + patience_s
    pause = 0.005
    while True:
        try:
            shutil.rmtree(path, ignore_errors=True)
            if os.path.lexists(path):
                _make_removable(os.fsencode(path))
                shutil.rmtree(path, ignore_errors=True)
        except RecursionError:
            _flatten(os.fsencode(path))
            with suppress(RecursionError):
                shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.2)


def _flatten(path: bytes) -> None:
    """Move all folders below *path* directly into *path*, because they may be nested too deeply for a recursive
    function."""
    moved = 0
    with suppress(OSError):
        root = os.open(path, _FOLDER)
        try:
            waiting = _folders(root)
            while waiting:
                with suppress(OSError):
                    folder = os.open(waiting.pop(), _FOLDER, dir_fd=root)
                    try:
                        for name in _folders(folder):
                            moved += 1
                            os.rename(name, f"flat-{moved}", src_dir_fd=folder, dst_dir_fd=root)
                            waiting.append(f"flat-{moved}")
                    finally:
                        os.close(folder)
        finally:
            os.close(root)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _folders(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def _make_removable(path: bytes) -> None:
    with suppress(OSError):
        os.chmod(path, 0o700)
    for top, folders, _ in os.walk(path):
        for name in folders:
            folder = os.path.join(top, name)
            if not os.path.islink(folder):  # chmod would follow the link out of the tree
                with suppress(OSError):
                    os.chmod(folder, 0o700)


def watch(parent: int) -> None:
    """Read orders from stdin until its other end is closed or the process *parent* has ended, then carry them out.

    Each line is an order: ``mark VALUE``, ``group PGID`` or ``folder PATH`` (the path in hexadecimal). A line with the
    word ``forget`` and an order withdraws this order.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    orders: dict[str, None] = {}
    rest = b""
    while chunk := _next_orders(parent):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            order = line.decode()
            if order.startswith("forget "):
                orders.pop(order.removeprefix("forget "), None)
            else:
                orders[order] = None
    _clean(list(orders))


def _next_orders(parent: int) -> bytes:
    """Return the next orders. They are empty if the suite has ended, even if one of its children still holds the pipe
    open."""
    import select

    while not select.select([0], [], [], 1.0)[0]:
        if os.getppid() != parent:
            return b""
    return os.read(0, 65536)


def _clean(orders: list[str]) -> None:
    by_kind: dict[str, list[str]] = {"group": [], "mark": [], "folder": []}
    for order in orders:
        kind, _, value = order.partition(" ")
        by_kind[kind].append(value)
    for group in by_kind["group"]:
        kill_group(int(group), signal.SIGKILL)
    for value in by_kind["mark"]:
        kill_marked(value.encode(), _PATIENCE_S)
    for folder in by_kind["folder"]:
        remove_tree(bytes.fromhex(folder))


if __name__ == "__main__":
    watch(int(sys.argv[1]))
