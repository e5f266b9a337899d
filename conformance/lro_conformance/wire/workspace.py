"""The private folder and the server processes of one run. They never outlive the run."""

from __future__ import annotations

import atexit
import itertools
import os
import re
import secrets
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from lro_conformance.wire import watchdog
from lro_conformance.wire.reaper import Reaper
from lro_conformance.wire.server import Limits, ServerProcess


class Workspace:
    """Creates servers and working folders, from any thread. At the end, it ends all servers and removes all folders.

    Use it as a context manager. Otherwise it is closed when the interpreter exits. If the suite is killed, a guard
    process cleans up (see `lro_conformance.wire.reaper`).
    """

    def __init__(self, *, limits: Limits | None = None, parent: str | os.PathLike[str] | None = None) -> None:
        self.id = secrets.token_hex(8)
        self.limits = limits or Limits()
        self._parent = parent
        self._root: Path | None = None
        self.starts = 0
        """Number of servers that were created."""
        self._reaper = Reaper()
        self._numbers = itertools.count(1)
        self._servers: list[ServerProcess] = []
        self._lock = threading.Lock()
        self._closed = False
        self._aborted = threading.Event()
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.abort()
        self.close()

    def server(
        self,
        argv: Sequence[str],
        env: Mapping[str, str | None] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        *,
        limits: Limits | None = None,
        file_size_limit: int | None = None,
    ) -> ServerProcess:
        """Create a server without starting it. The server is closed by the caller, or at the end of the run.

        Raises `RuntimeError` if the run is already closed.
        """
        with self._lock:
            self._ensure_root()
            server = ServerProcess(
                argv,
                env=env,
                cwd=cwd,
                limits=limits or self.limits,
                file_size_limit=file_size_limit,
                marker=f"{self.id}:{next(self._numbers)}",
                watcher=self._reaper,
            )
            self._servers = [s for s in self._servers if not s.closed]
            self._servers.append(server)
            self.starts += 1
            if self._aborted.is_set():
                server.abort()
            return server

    @property
    def root(self) -> Path:
        """The private folder (0700) for all temporary files. Raises `RuntimeError` if the run is already closed."""
        with self._lock:
            return self._ensure_root()

    def workdir(self, label: str = "work") -> Path:
        """Create an empty folder (0700) named after *label*. Raises `RuntimeError` if the run is already closed."""
        with self._lock:
            root = self._ensure_root()
            name = re.sub(r"[^A-Za-z0-9_-]+", "-", label)[:40]
            return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root))

    def abort(self) -> None:
        """Kill all servers immediately. Pending requests fail, and servers that are created later do not start."""
        with self._lock:
            self._aborted.set()
            servers = list(self._servers)
        for server in servers:
            server.abort()

    @property
    def aborted(self) -> bool:
        """True if the run was aborted."""
        return self._aborted.is_set()

    def pause(self, seconds: float) -> None:
        """Wait for this many seconds. Raises `RuntimeError` as soon as the run is aborted."""
        if self._aborted.wait(seconds):
            raise RuntimeError("the run was aborted")

    def close(self) -> None:
        """End all servers that are still open, concurrently, and remove all folders. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            servers = [s for s in self._servers if not s.closed]
        try:
            _close_all(servers)
        finally:
            watchdog.kill_marked(f"{self.id}:".encode())
            if self._root is not None:
                watchdog.remove_tree(str(self._root))
            self._reaper.close()
            atexit.unregister(self.close)

    def _ensure_root(self) -> Path:
        """Return the private folder. On first use, it is created and registered with the guard.

        Raises `RuntimeError` if the run is already closed.
        """
        if self._closed:
            raise RuntimeError("the run is closed: no more servers and folders can be created")
        if self._root is None:
            self._reaper.register_marker(f"{self.id}:")
            self._root = Path(tempfile.mkdtemp(prefix="lro-run-", dir=self._parent)).resolve()
            self._reaper.register_folder(self._root)
        return self._root


def _close_all(servers: list[ServerProcess]) -> None:
    # The servers are closed in parallel: a server that does not end by itself takes seconds to stop.
    threads = [threading.Thread(target=server.close, daemon=True) for server in servers[1:]]
    started: list[threading.Thread] = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
    except RuntimeError:
        pass  # the interpreter is shutting down and starts no more threads: the remaining servers are closed one by one
    for server in [*servers[:1], *servers[1 + len(started) :]]:
        server.close()
    for thread in started:
        thread.join()
