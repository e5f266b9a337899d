"""The record for `lro gain`, to which each run appends: sizes, times, names of tools and clients, never contents."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

import orjson

from lro_proxy.gain.accounts import Accounts, Entry, Kind
from lro_proxy.wire.jsonrpc import members
from lro_spec.tokens import CHARACTERS_PER_TOKEN

PATH_VARIABLE = "LRO_GAIN"
"""Environment variable with the path of the record. If it is ``off``, no record is kept."""
_MAX_RECORD_BYTES = 8 << 20
"""Size in bytes above which a record is set aside before a run first appends to it: ``.1`` is added to its name."""
_MAX_FILES = 10_000
"""Maximum number of offloaded files whose tools are remembered."""


def record_path(environ: Mapping[str, str]) -> str | None:
    """The path of the record: ``LRO_GAIN``, or ``lro/gain.jsonl`` in the user's state directory.

    Returns None if no record is kept, because the variable is ``off`` or the user has no home directory.
    """
    chosen = environ.get(PATH_VARIABLE, "")
    if chosen:
        return None if chosen.lower() == "off" else os.path.abspath(chosen)
    state = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        home = os.path.expanduser("~")
        state = os.path.join(home, ".local", "state")
    return os.path.join(state, "lro", "gain.jsonl") if os.path.isabs(state) else None


class Ledger:
    """Counts the results of one run, and appends them to the record. No method raises."""

    def __init__(self, path: str | None) -> None:
        self.accounts = Accounts()
        self.client = ""
        """The client's name."""
        self._path = path
        self._file: int | None = None
        self._origins: OrderedDict[str, str] = OrderedDict()
        """The tools whose results the latest offloaded files hold, by the name of the file."""
        self._lock = threading.Lock()
        self._local = threading.local()

    def note_file(self, path: str, tokens: int) -> None:
        """Note that the result being processed by this thread was written to *path*; *tokens* is its estimated size."""
        self._local.written = path, tokens

    def count_result(self, tool: str, arguments: Mapping[str, Any], sent: int) -> None:
        """Count a result for which the client gets *sent* tokens.

        If an argument names an offloaded file, the result counts as read back from that file.
        """
        path, tokens = getattr(self._local, "written", (None, sent))
        self._local.__dict__.clear()
        if path is not None:
            self._remember(path, tool)
        origin = self._origin(arguments)
        if origin is not None:
            self._add("read", sent=sent, tool=origin)
        else:
            self._add("call", tokens, sent, offloaded=path is not None, tool=tool)

    def count_read_back(self, arguments: Mapping[str, Any], texts: Iterable[str]) -> None:
        """Count an answer that the proxy gave from an offloaded file.

        An argument names the file by its path, its name or its URI.
        """
        origin = self._origin(arguments)
        self._add("read", sent=_tokens(sum(map(len, texts))), tool=origin or "(files)")

    def count_listing(self, characters: int) -> None:
        """Count the *characters* that the proxy has added to a list of tools."""
        if characters:
            self._add("list", sent=_tokens(characters))

    def report(self) -> str:
        """The sums of the run in a sentence; empty if there was no result."""
        total = self.accounts.total
        if not total.calls:
            return ""
        costs = {"in descriptors": total.descriptors, "read back": total.read_back, "in tools/list": total.listed}
        spent = ", ".join(f"{tokens:,} {what}" for what, tokens in costs.items() if tokens)
        return (
            f"{total.calls:,} {'result' if total.calls == 1 else 'results'}, {total.offloaded:,} of them offloaded: "
            f"{total.saved:,} tokens saved "
            f"({total.shown:,} not shown{f'; {spent}' if spent else ''}). More: lro gain"
        )

    def _add(self, kind: Kind, tokens: int = 0, sent: int = 0, *, offloaded: bool = False, tool: str = "") -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds") if self._path is not None else ""
        entry = Entry(kind, tokens, sent, offloaded, tool, self.client, now)
        with self._lock:
            self.accounts.add(entry)
            if self._path is not None:
                with contextlib.suppress(OSError, TypeError):  # no record is better than no answer
                    self._append(orjson.dumps(entry) + b"\n")

    def _append(self, line: bytes) -> None:
        if self._file is None:
            assert self._path is not None
            path, self._path = self._path, None  # a path that cannot be opened is not tried again
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_size > _MAX_RECORD_BYTES:
                    os.replace(path, f"{path}.1")
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o600)
            self._path = path
        os.write(self._file, line)

    def _remember(self, path: str, tool: str) -> None:
        self._origins[os.path.basename(path)] = tool
        if len(self._origins) > _MAX_FILES:
            self._origins.popitem(last=False)

    def _origin(self, arguments: Mapping[str, Any]) -> str | None:
        """The tool whose offloaded result is named by an argument; None if no argument names an offloaded file."""
        found = (self._origins.get(os.path.basename(value)) for value in arguments.values() if isinstance(value, str))
        return next((tool for tool in found if tool is not None), None)


def tokens_of(result: Mapping[str, Any]) -> int:
    """The tokens of a result as a model reads it: its texts, or the structured content if there are none."""
    content = result.get("content")
    blocks = map(members, cast("list[Any]", content) if isinstance(content, list) else [])
    texts = [text for block in blocks if isinstance(text := block.get("text"), str)]
    if not texts and result.get("structuredContent") is not None:
        try:
            return _tokens(len(orjson.dumps(result["structuredContent"])))
        except TypeError:  # half of a surrogate pair, or deep nesting
            return 0
    return _tokens(sum(map(len, texts)))


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
