"""Encodes the frozen records of trials as JSON, and decodes them by the types of their fields.

A call is written as its number, because checks distinguish calls by identity. Fields with ``metadata={"kept": False}``
are left out. No class name is written: a file is decoded by the return type of the trial that it is named after, and by
the names of fields. So a class can be renamed freely, but a trial has to keep its name. A renamed field keeps its
earlier name as ``metadata={"formerly": NAME}``, so that older recordings can be read. A new field needs a default for
older recordings; unknown fields are ignored. Class names only matter for exceptions (``_KNOWN_PROBLEMS`` in
`lro_conformance.evidence.reader`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from lro_conformance.evidence.format import as_bytes, as_text
from lro_conformance.wire import jsonrpc

Plain = Any
"""Any JSON value."""


class Codec:
    """Encodes values, or decodes them: *special* has conversions, in one of these directions, for types that are not
    plain data.

    *store* converts bytes to JSON, and *fetch* converts them back. They may keep long byte strings in files.
    """

    def __init__(
        self,
        special: Mapping[type, Callable[[Any], Any]],
        *,
        store: Callable[[bytes], Plain] = as_text,
        fetch: Callable[[Any], bytes] = as_bytes,
    ) -> None:
        self._special = special
        self._store = store
        self._fetch = fetch

    def encode(self, value: Any) -> Plain:
        """A value as JSON."""
        special = self._special.get(_class(value))
        if special is not None:
            return special(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return value
        if isinstance(value, bytes):
            return self._store(value)
        if isinstance(value, Path):
            return str(value)
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[Any, Any]", value))
        if isinstance(value, Sequence):
            return [self.encode(v) for v in cast("Sequence[Any]", value)]
        if isinstance(value, AbstractSet):
            return sorted(self.encode(v) for v in cast("AbstractSet[Any]", value))
        if is_dataclass(value):
            return {f.name: self.encode(getattr(value, f.name)) for f in kept(type(value))}
        raise TypeError(f"evidence cannot store {type(value).__name__}")

    def _mapping(self, value: Mapping[Any, Any]) -> Plain:
        if all(isinstance(k, str) for k in value):
            return {k: self.encode(v) for k, v in value.items()}
        return [[self.encode(k), self.encode(v)] for k, v in value.items()]

    def decode(self, kind: Any, value: Plain) -> Any:
        """A value of type *kind* from JSON. Raises `ValueError` if the value does not have that type."""
        special = self._special.get(kind) if isinstance(kind, type) else None
        if special is not None:
            return special(value)
        origin = get_origin(kind)
        if kind is Any or kind is object:
            return value
        if origin is Union or origin is types.UnionType:
            return self._union(get_args(kind), value)
        if origin is Literal:
            _demand(value in get_args(kind), kind, value)
            return value
        if origin is not None:
            return self._container(origin, get_args(kind), value)
        return self._plain(kind, value)

    def _plain(self, kind: Any, value: Plain) -> Any:
        if kind is None or kind is types.NoneType:
            _demand(value is None, kind, value)
            return None
        if kind is bytes:
            _demand(isinstance(value, dict), kind, value)
            return self._fetch(value)
        if kind is Path:
            _demand(isinstance(value, str), kind, value)
            return Path(value)
        if kind is float:
            _demand(isinstance(value, int | float) and not isinstance(value, bool), kind, value)
            return value
        if kind in (str, bool, int):
            _demand(type(value) is kind, kind, value)
            return value
        if is_dataclass(kind):
            return self._dataclass(cast("type", kind), value)
        raise TypeError(f"values of type {kind} cannot be read from evidence")

    def _union(self, kinds: tuple[Any, ...], value: Plain) -> Any:
        problem: ValueError | None = None
        for kind in kinds:
            if value is None and kind is not types.NoneType and types.NoneType in kinds:
                continue
            try:
                return self.decode(kind, value)
            except ValueError as wrong:
                problem = problem or wrong
        raise problem or ValueError(f"expected one of {kinds}")

    def _container(self, origin: Any, kinds: tuple[Any, ...], value: Plain) -> Any:
        if issubclass(origin, Mapping):
            key, item = kinds
            if isinstance(value, dict):
                return {self.decode(key, k): self.decode(item, v) for k, v in cast("dict[str, Any]", value).items()}
            _demand(isinstance(value, list), origin, value)
            pairs = [self._container(tuple, kinds, p) for p in cast("list[Any]", value)]
            return dict(pairs)
        _demand(isinstance(value, list), origin, value)
        items = cast("list[Any]", value)
        if issubclass(origin, tuple):
            if len(kinds) == 2 and kinds[1] is Ellipsis:
                return tuple(self.decode(kinds[0], v) for v in items)
            _demand(len(items) == len(kinds), kinds, value)
            return tuple(self.decode(k, v) for k, v in zip(kinds, items, strict=True))
        made = [self.decode(kinds[0], v) for v in items]
        return frozenset(made) if issubclass(origin, AbstractSet) else made

    def _dataclass(self, kind: type, value: Plain) -> Any:
        _demand(isinstance(value, dict), kind, value)
        given = cast("dict[str, Any]", value)
        hints = _hints(kind)
        made: dict[str, Any] = {}
        for one in fields(kind):
            name = one.name if one.name in given else one.metadata.get("formerly", one.name)
            if one.init and one.metadata.get("kept", True) and name in given:
                try:
                    made[one.name] = self.decode(hints[one.name], given[name])
                except ValueError as wrong:
                    raise ValueError(f"{one.name}: {wrong}") from None
            elif one.default is MISSING and one.default_factory is MISSING:
                _demand(not one.metadata.get("kept", True), f"{kind.__name__}.{one.name}", None)
                made[one.name] = None
        return kind(**made)


def kept(kind: type) -> list[Field[Any]]:
    """The fields of a dataclass that are recorded."""
    return [f for f in fields(kind) if f.init and f.metadata.get("kept", True)]


def _class(value: object) -> type:
    return type(value)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _demand(holds: bool, kind: Any, value: Plain) -> None:
    if not holds:
        name = getattr(kind, "__name__", str(kind))
        raise ValueError(f"expected {name}, got {'nothing' if value is None else type(value).__name__}")


def answer(raw: bytes, id: int) -> tuple[Any, Any]:
    """The result and the error in a line that answers a request. In a batch, the response with this *id* counts, or
    else the first response.

    Both are None if the line has neither.
    """
    message = jsonrpc.parse(raw)
    found = [m for m in (message, *message.entries) if m.kind == "response"]
    own = next((m for m in found if m.id == id), found[0] if found else message)
    return own.fields.get("result"), own.fields.get("error")
