"""Where one process keeps what it moves out of conversations: a private folder that no other reads or writes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from lro_reference.custodian import CONTEXT_PREFIX
from lro_reference.extraction.files import OffloadedFiles
from lro_reference.extraction.limits import Refused
from lro_reference.writer import write_chunks
from lro_spec.naming import ulid_at

_CHUNK = 1 << 20


class ContextFiles(OffloadedFiles[None]):
    """The files in a folder of their own below *folder*, made when it is needed; for any number of threads."""

    def __init__(self, folder: str, ttl_seconds: int) -> None:
        super().__init__(
            os.path.join(folder, f"{CONTEXT_PREFIX}{ulid_at(datetime.now(UTC))}"),
            ttl_seconds,
            told_by="a path that context_offload has put into a message",
            again="what it held is lost to this server",
        )
        self.taken: dict[str, str] = {}
        """Names that were given out, also of files that have expired: no other text may ever be found there."""
        self._writing = threading.Lock()

    def store(self, texts: Mapping[str, str]) -> None:
        """Writes all of them, by their paths, or none. A text that is there already stays. Raises `Refused`."""
        with self._writing:
            written: list[str] = []
            try:
                for path, text in texts.items():
                    if not self.holds(os.path.basename(path)):
                        self._write(path, text.encode())
                        written.append(path)
            except OSError as problem:
                for path in written:
                    with suppress(OSError):
                        os.unlink(path)
                raise Refused(
                    "the messages are as they were, for what leaves them cannot be stored "
                    f"({problem.strerror}: {self.folder})"
                ) from None
            for path in written:
                self.remember(path, None)

    def _write(self, path: str, data: bytes) -> None:
        with suppress(FileNotFoundError):
            os.unlink(path)  # the same text, expired, or what somebody has made of it
        write_chunks(*os.path.split(path), (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)))
