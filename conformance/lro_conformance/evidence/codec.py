"""Encodes the frozen records of trials as JSON, and decodes them by the types of their fields.

A call is written as its number, because checks distinguish calls by identity. Fields with ``metadata={"kept": False}``
are left out. Class names of records are not written: a file has the name of a trial, and is decoded by the return type
of this trial and by the names of the fields. So a class can be renamed freely, but a trial has to keep its name. A
renamed field keeps its earlier name as ``metadata={"formerly": NAME}``, so that older recordings can be read. A new
field needs a default for older recordings; unknown fields are ignored. Class names only matter for exceptions
(``_KNOWN_PROBLEMS`` in `lro_conformance.evidence.reader`).
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
    """Encodes values, or decodes them.

    *special* has the conversions for types that are not plain data. A codec that encodes is given functions that encode
    these types; a codec that decodes is given functions that decode them. *store* converts bytes to JSON, and *fetch*
    converts them back. *store* may put long byte strings into files.
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
        """Return a value as JSON."""
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
            return {f.name: self.encode(getattr(value, f.name)) for f in recorded_fields(type(value))}
        raise TypeError(f"evidence cannot store {type(value).__name__}")

    def _mapping(self, value: Mapping[Any, Any]) -> Plain:
        if all(isinstance(k, str) for k in value):
            return {k: self.encode(v) for k, v in value.items()}
        return [[self.encode(k), self.encode(v)] for k, v in value.items()]

    def decode(self, kind: Any, value: Plain) -> Any:
        """Return a value of type *kind* from JSON. Raises `ValueError` if the JSON does not represent such a value."""
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
        decoded = [self.decode(kinds[0], v) for v in items]
        return frozenset(decoded) if issubclass(origin, AbstractSet) else decoded

    def _dataclass(self, kind: type, value: Plain) -> Any:
        _demand(isinstance(value, dict), kind, value)
        recorded = cast("dict[str, Any]", value)
        hints = _hints(kind)
        arguments: dict[str, Any] = {}
        for attr in fields(kind):
            name = attr.name if attr.name in recorded else attr.metadata.get("formerly", attr.name)
            if attr.init and attr.metadata.get("kept", True) and name in recorded:
                try:
                    arguments[attr.name] = self.decode(hints[attr.name], recorded[name])
                except ValueError as wrong:
                    raise ValueError(f"{attr.name}: {wrong}") from None
            elif attr.default is MISSING and attr.default_factory is MISSING:
                _demand(not attr.metadata.get("kept", True), f"{kind.__name__}.{attr.name}", None)
                arguments[attr.name] = None
        return kind(**arguments)


def recorded_fields(kind: type) -> list[Field[Any]]:
    """Return the fields of a dataclass that are recorded."""
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
    """Return the result and the error of the response on a line; each is None if the response lacks it.

    If the line is a batch, the response with this *id* is used or, if there is no such response, the first response.
    """
    message = jsonrpc.parse(raw)
    responses = [m for m in (message, *message.entries) if m.kind == "response"]
    response = next((m for m in responses if m.id == id), responses[0] if responses else message)
    return response.fields.get("result"), response.fields.get("error")
