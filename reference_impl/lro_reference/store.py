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

from lro_reference.memories import InvalidMemory, Memory, moment, normalise

IN_MEMORY = ":memory:"
_FILE = "memories.sqlite3"
_LAYOUT = 1
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
# Chinese and Japanese have no spaces: without some, a whole sentence would be one word of the index.
_IDEOGRAPH = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_HAS_LETTER = re.compile(r"[^\W_]")
_MOST = 2**31 - 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found."""

    memory: Memory
    score: float | None
    """How well it matches, higher is better; None where nothing was searched for."""


class Store:
    """An open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, folder: str, first: Iterable[Mapping[str, Any]] = ()) -> Store:
        """Open the store in ``folder`` (or `IN_MEMORY`); a new one is made and filled with ``first``.

        Raises `OSError` or `sqlite3.Error` when the folder or what is in it cannot be used.
        """
        path = folder
        if folder != IN_MEMORY:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            path = os.path.join(folder, _FILE)
        connection = sqlite3.connect(path, timeout=5, isolation_level=None)
        store = cls(connection)
        try:
            # A log, so that storing does not wait for the disk and several servers can share a folder.
            with contextlib.suppress(sqlite3.OperationalError):  # another server is just setting it, for good
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if store._layout() == 0:
                store._create(first)
            found = store._layout()
        except BaseException:
            connection.close()
            raise
        if found != _LAYOUT:
            connection.close()
            raise sqlite3.DatabaseError(f"its layout is {found}, this version knows {_LAYOUT}")
        return store

    def add(self, memory: Mapping[str, Any]) -> tuple[str, bool]:
        """Store a memory, replacing one of the same id; returns the id, and whether one was replaced.

        Raises `InvalidMemory`.
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
        """The memories that hold every word of ``query``; all of them for ``*``, an empty query or None.

        Newest first, ``ranked`` best first; ties by id. ``namespace`` keeps that namespace and those below it.
        """
        words = (query or "").replace("\0", " ").split()
        everything = words in ([], ["*"])
        condition, values = "1", list[Any]()
        score = "NULL"
        if phrases := [f'"{_spaced(w).replace(chr(34), chr(34) * 2)}"' for w in words if _HAS_LETTER.search(w)]:
            condition, values = "words MATCH ?", [" AND ".join(phrases)]
            score = "-bm25(words)"
        elif not everything:  # only symbols, such as an emoji, which the index does not hold
            condition, values = " AND ".join("instr(text, ?) > 0" for _ in words), list(words)
            score = "1.0"
        if namespace:
            condition += " AND (namespace = ? OR substr(namespace, 1, length(?) + 1) = ? || '/')"
            values += [namespace] * 3
        rows = self._connection.execute(
            f"SELECT body, {score} AS score FROM memories JOIN words ON words.rowid = place WHERE {condition} "
            f"ORDER BY {'score DESC, ' if ranked else ''}created DESC, id LIMIT ?",
            [*values, _MOST if limit is None else min(limit, _MOST)],
        )
        return [Hit(json.loads(body), value) for body, value in rows]

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM memories").fetchone()[0])

    def close(self) -> None:
        """Close the store; everything that was added is in it."""
        self._connection.close()

    def _layout(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _create(self, first: Iterable[Mapping[str, Any]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if self._layout() == 0:  # another server may have been quicker
                for statement in _TABLES.split(";\n"):
                    self._connection.execute(statement)
                for memory in first:
                    self._insert(memory)
                self._connection.execute(f"PRAGMA user_version = {_LAYOUT}")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _insert(self, memory: Mapping[str, Any]) -> tuple[str, bool]:
        made = normalise(memory, datetime.now(UTC))
        try:
            body = _ENCODER.encode(made)
        except (ValueError, RecursionError) as problem:  # NaN and infinity are no JSON
            raise InvalidMemory(f"memory cannot be written as JSON: {problem}") from None
        text = "\n".join((made["title"], made["content"], made.get("summary") or "", " ".join(made["tags"])))
        created = int(moment(made["created"]).timestamp() * 1_000_000)
        try:
            old = self._connection.execute("SELECT place FROM memories WHERE id = ?", [made["id"]]).fetchone()
            if old:
                self._connection.execute("DELETE FROM memories WHERE place = ?", old)
                self._connection.execute("DELETE FROM words WHERE rowid = ?", old)
            cursor = self._connection.execute(
                "INSERT INTO memories (id, created, namespace, body) VALUES (?, ?, ?, ?)",
                [made["id"], created, made["namespace"], body],
            )
            self._connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [cursor.lastrowid, _spaced(text)])
        except UnicodeEncodeError:
            raise InvalidMemory("memory holds half of a surrogate pair, which is not a character") from None
        return made["id"], bool(old)


def _spaced(text: str) -> str:
    return _IDEOGRAPH.sub(r" \1 ", text)
