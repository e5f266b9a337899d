"""Storage for messages moved out of conversations: a private folder of one process."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from lro_proxy.tools.access import OffloadedFiles
from lro_proxy.tools.limits import Refused
from lro_reference.custodian import CONTEXT_PREFIX
from lro_reference.writer import write_chunks
from lro_spec.filenames import ulid_at

_CHUNK = 1 << 20


class ContextFiles(OffloadedFiles[None]):
    """Files in a new private folder within *folder*, which is created with its first file. Thread-safe."""

    def __init__(self, folder: str, ttl_seconds: int) -> None:
        super().__init__(
            os.path.join(folder, f"{CONTEXT_PREFIX}{ulid_at(datetime.now(UTC))}"),
            ttl_seconds,
            path_source="a path that context_offload has put into a message",
            gone_advice="its contents can no longer be read",
        )
        self.digests: dict[str, str] = {}
        """Digests of texts by file name. Expired files are included: their names are never reused for another text."""
        self._writing = threading.Lock()

    def store(self, texts: Mapping[str, str]) -> None:
        """Write each text to its path. If that fails for one text, no text is stored. Raises `Refused`.

        A file that can still be read is not written again. It holds the same text, because a name is never reused for
        another text.
        """
        with self._writing:
            written: list[str] = []
            try:
                for path, text in texts.items():
                    if not self.can_open(os.path.basename(path)):
                        self._write(path, text.encode())
                        written.append(path)
            except OSError as problem:
                for path in written:
                    with suppress(OSError):
                        os.unlink(path)
                raise Refused(
                    "the messages are unchanged, because their contents cannot be stored "
                    f"({problem.strerror}: {self.folder})"
                ) from None
            for path in written:
                self.remember(path, None)

    def _write(self, path: str, data: bytes) -> None:
        with suppress(FileNotFoundError):
            os.unlink(path)  # an expired or changed file of this name
        write_chunks(*os.path.split(path), (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)))
