"""Memories in SQLite, with full-text search. It knows nothing of offloading."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lro_reference.memory.model import InvalidMemory, Memory, normalise, parse_time

IN_MEMORY = ":memory:"
_FILE = "memories.sqlite3"
_LAYOUT_VERSION = 1
_TABLES = """
CREATE TABLE memories (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,  -- microseconds since 1970
    namespace TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX by_age ON memories (created DESC, id);
CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61');
"""
# Chinese and Japanese have no spaces: without added ones, a sentence would be one word of the index.
_IDEOGRAPH = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_HAS_LETTER = re.compile(r"[^\W_]")
_MAX_ROWS = 2**31 - 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that matches a query."""

    memory: Memory
    score: float | None
    """Relevance, higher is better; None if there was no query."""


class Store:
    """A database of memories."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, folder: str, initial: Iterable[Mapping[str, Any]] = ()) -> Store:
        """Open the store in ``folder`` (or `IN_MEMORY`); a new one is created and filled with the ``initial`` memories.

        Raises `OSError` or `sqlite3.Error` when the folder or the database in it cannot be used.
        """
        path = folder
        if folder != IN_MEMORY:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            path = os.path.join(folder, _FILE)
        connection = sqlite3.connect(path, timeout=5, isolation_level=None)
        store = cls(connection)
        try:
            # Write-ahead logging: storing does not wait for the disk, and several servers can share a folder.
            with contextlib.suppress(sqlite3.OperationalError):  # another server is setting it right now
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if store._read_layout() == 0:
                store._create(initial)
            layout = store._read_layout()
        except BaseException:
            connection.close()
            raise
        if layout != _LAYOUT_VERSION:
            connection.close()
            raise sqlite3.DatabaseError(f"its layout is version {layout}, this program supports {_LAYOUT_VERSION}")
        return store

    def add(self, memory: Mapping[str, Any]) -> tuple[str, bool]:
        """Store a memory, replacing any memory of the same id. Returns the id, and True if a memory was replaced.

        Raises `InvalidMemory` if the memory cannot be stored, and `sqlite3.Error` if the database cannot be written.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            stored = self._insert(memory)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return stored

    def find(
        self, query: str | None = None, *, namespace: str | None = None, limit: int | None = None, ranked: bool = False
    ) -> list[Hit]:
        """The memories with every word of ``query`` in their title, content, summary or tags.

        If ``query`` is ``*``, blank or None, every memory matches. Words without a letter or digit, such as emoji,
        count only if the query has no other words. The newest memories come first. If ``ranked``, the best matches come
        first instead, and equally good ones are sorted by age, then by id. ``namespace`` selects the memories in that
        namespace and in those below it.
        """
        words = (query or "").replace("\0", " ").split()
        matches_all = words in ([], ["*"])
        condition, parameters = "1", list[Any]()
        score = "NULL"
        if phrases := [
            f'"{_separate_ideographs(w).replace(chr(34), chr(34) * 2)}"' for w in words if _HAS_LETTER.search(w)
        ]:
            condition, parameters = "words MATCH ?", [" AND ".join(phrases)]
            score = "-bm25(words)"
        elif not matches_all:  # only symbols, such as emoji, which the index does not contain
            condition, parameters = " AND ".join("instr(text, ?) > 0" for _ in words), list(words)
            score = "1.0"
        if namespace:
            condition += " AND (namespace = ? OR substr(namespace, 1, length(?) + 1) = ? || '/')"
            parameters += [namespace] * 3
        rows = self._connection.execute(
            f"SELECT body, {score} AS score FROM memories JOIN words ON words.rowid = place WHERE {condition} "
            f"ORDER BY {'score DESC, ' if ranked else ''}created DESC, id LIMIT ?",
            [*parameters, _MAX_ROWS if limit is None else min(limit, _MAX_ROWS)],
        )
        return [Hit(json.loads(body), value) for body, value in rows]

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM memories").fetchone()[0])

    def close(self) -> None:
        """Close the store; every added memory is saved."""
        self._connection.close()

    def _read_layout(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _create(self, initial: Iterable[Mapping[str, Any]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if self._read_layout() == 0:  # unless another server was faster
                for statement in _TABLES.split(";\n"):
                    self._connection.execute(statement)
                for memory in initial:
                    self._insert(memory)
                self._connection.execute(f"PRAGMA user_version = {_LAYOUT_VERSION}")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _insert(self, memory: Mapping[str, Any]) -> tuple[str, bool]:
        normalised = normalise(memory, datetime.now(UTC))
        try:
            body = _ENCODER.encode(normalised)
        except (ValueError, RecursionError) as problem:  # NaN and infinity are not JSON
            raise InvalidMemory(f"memory cannot be written as JSON: {problem}") from None
        text = "\n".join(
            (normalised["title"], normalised["content"], normalised.get("summary") or "", " ".join(normalised["tags"]))
        )
        created = int(parse_time(normalised["created"]).timestamp() * 1_000_000)
        try:
            old = self._connection.execute("SELECT place FROM memories WHERE id = ?", [normalised["id"]]).fetchone()
            if old:
                self._connection.execute("DELETE FROM memories WHERE place = ?", old)
                self._connection.execute("DELETE FROM words WHERE rowid = ?", old)
            cursor = self._connection.execute(
                "INSERT INTO memories (id, created, namespace, body) VALUES (?, ?, ?, ?)",
                [normalised["id"], created, normalised["namespace"], body],
            )
            self._connection.execute(
                "INSERT INTO words (rowid, text) VALUES (?, ?)", [cursor.lastrowid, _separate_ideographs(text)]
            )
        except UnicodeEncodeError:
            raise InvalidMemory("memory contains an unpaired surrogate, which is not a character") from None
        return normalised["id"], bool(old)


def _separate_ideographs(text: str) -> str:
    return _IDEOGRAPH.sub(r" \1 ", text)
