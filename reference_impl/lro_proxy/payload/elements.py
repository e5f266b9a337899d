"""Elements of JSON arrays, a batch at a time: what they have in common, and whether reading them loses anything.

A batch that has only known fields and types is decoded into structs. That takes half the time of dictionaries, and it
fails if the batch has anything new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, Union, cast

import msgspec
import orjson

from lro_proxy.payload.survey import Layout, Sampling, Survey
from lro_reference.writer import encode

MOST_LAYOUTS = 2000
"""Number of layouts above which records have nothing in common that a schema could state."""
_MOST_COUNTED, _MOST_VALUES = 12, 1000
"""Maximum number of fields whose texts are counted, and maximum number of different texts of such a field."""
_MOST_DECODED = 200
"""Records with more fields are not decoded into structs."""
_DEEPEST_TYPED, _MOST_MEMBERS = 3, 20
"""Limits of decoding by type within a field: the deepest level of a list or an object, where the field's own value is
level 0, and the number of members of an object."""
_MOST_SURPRISES = 3
"""If more batches than this were not taken although their layouts were known, lists and objects are decoded without
types: usually something inside these was new."""
_DECODED: Mapping[type, Any] = {
    str: str,
    bool: bool,
    int: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],  # other readers may make a float of a larger one
    float: float,
    list: list[Any],
    dict: dict[str, Any],
    type(None): None,
}
"""Types by which values are decoded."""
_ENCODER = msgspec.json.Encoder()


def layout_of(record: Mapping[str, Any]) -> Layout:
    """The layout of a record."""
    return tuple(record), tuple(map(type, record.values()))


class Layouts:
    """The layouts of records, and a decoder for records that have no other fields and types."""

    def __init__(self) -> None:
        self._known: dict[Layout, None] = {}
        self._decoder: _Decoder | None = None
        self.names: dict[str, str] = {}
        """The attributes of decoded records, by field."""
        self.texts: set[str] = set()
        """Fields of decoded records that have nothing but texts and null."""
        self._inner: dict[str, _Inner] = {}
        """Types within the lists and objects of a field."""
        self._surprises = 0
        self._untyped: list[str] = []
        """Attributes with lists and objects that may have anything in them."""

    @property
    def are_many(self) -> bool:
        """True if there are too many to state anything in common."""
        return len(self._known) > MOST_LAYOUTS

    def found(self) -> list[Layout]:
        """The layouts; if a field has decimals in any record, its integers are of type float, too."""
        fields = {field for names, types in self._known for field in zip(names, types, strict=True)}
        decimals = {name for name, type in fields if type in (float, orjson.Fragment)}
        return [
            (names, tuple(float if n in decimals and t is int else t for n, t in zip(names, types, strict=True)))
            for names, types in self._known
        ]

    def learn(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take in records that may have new layouts."""
        known = len(self._known)
        self._known.update(dict.fromkeys(map(layout_of, records)))
        if len(self._known) == known:
            self._surprises += self._decoder is not None
        else:
            self._decoder = None
        if self._surprises > _MOST_SURPRISES:
            return
        nested = {name for layout in self._known for name, kind in zip(*layout, strict=True) if kind in (list, dict)}
        if nested:
            self._decoder = None
        for name in nested:
            inner = self._inner.setdefault(name, _Inner())
            for record in records:
                if name in record:
                    inner.learn(record[name])

    def decode(self, array: bytes) -> list[Any] | None:
        """The records of a JSON array, if they have only known fields and types, as structs; otherwise None."""
        return self._decode(lambda decoder: decoder.array(array))

    def decode_lines(self, lines: bytes) -> list[Any] | None:
        """Like `decode`, for records with any spaces and line feeds, or nothing at all, between them."""
        return self._decode(lambda decoder: decoder.lines(lines))

    def _decode(self, decode: Callable[[_Decoder], list[Any]]) -> list[Any] | None:
        if self._decoder is None and not self.are_many:
            self._decoder = self._make_decoder()
        try:
            return None if self._decoder is None else decode(self._decoder)
        except (ValueError, RecursionError):  # a field or a type that is new, or no JSON
            return None

    def lines(self, structs: list[Any]) -> bytes | None:
        """Decoded records as lines; None if one is nested too deeply for orjson."""
        return self._encode(structs, lambda: _ENCODER.encode_lines(structs)[:-1])

    def array(self, structs: list[Any]) -> bytes | None:
        """Decoded records as a JSON array; None as for `lines`."""
        return self._encode(structs, lambda: _ENCODER.encode(structs))

    def _encode(self, structs: list[Any], encode: Callable[[], bytes]) -> bytes | None:
        try:
            for attribute in self._untyped:
                orjson.dumps(list(map(attrgetter(attribute), structs)), default=_nothing)
            return encode()
        except (TypeError, ValueError, RecursionError):
            return None

    def _make_decoder(self) -> _Decoder | None:
        types: dict[str, set[type]] = {}
        for names, kinds in self._known:
            for name, kind in zip(names, kinds, strict=True):
                types.setdefault(name, set()).add(kind)
        if not all(map(can_be_named, types)):
            return None
        always = set(types).intersection(*(names for names, _ in self._known))
        if not 0 < len(types) <= _MOST_DECODED or not all(
            kind in _DECODED for kinds in types.values() for kind in kinds
        ):
            return None
        self.names = {name: f"f{number}" for number, name in enumerate(types)}
        self.texts = {name for name, kinds in types.items() if kinds <= {str, type(None)}}
        self._untyped = []
        annotated: dict[str, Any] = {}
        for name, kinds in types.items():
            annotated[name] = Union[tuple(_DECODED[kind] for kind in kinds)]  # noqa: UP007
            if kinds & {list, dict}:
                inner = self._inner[name].type() if self._surprises <= _MOST_SURPRISES else None
                annotated[name] = annotated[name] if inner is None else inner
                if inner is None:
                    self._untyped.append(self.names[name])
        record: Any = _struct(annotated, always)
        return _Decoder(msgspec.json.Decoder(list[record]).decode, msgspec.json.Decoder(record).decode_lines)


class _Decoder(NamedTuple):
    """Functions that decode records into structs. Raise `ValueError`, and `RecursionError` for deep nesting."""

    array: Callable[[bytes], list[Any]]
    lines: Callable[[bytes], list[Any]]


class _Inner:
    """Types of the values in one place within records, and of the values inside those."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._kinds: set[Any] = set()
        self._items: _Inner | None = None
        self._members: dict[str, _Inner] = {}
        self._always: set[str] | None = None

    def learn(self, value: Any) -> None:
        """Take in a value."""
        self._kinds.add(type(value))
        if self._depth > _DEEPEST_TYPED or len(self._members) > _MOST_MEMBERS:
            return
        if isinstance(value, list):
            self._items = self._items or _Inner(self._depth + 1)
            for item in cast("list[Any]", value):
                self._items.learn(item)
        elif isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            self._always = set(members) if self._always is None else self._always.intersection(members)
            for name, member in members.items():
                self._members.setdefault(name, _Inner(self._depth + 1)).learn(member)

    def type(self) -> Any | None:
        """A type that decodes such values; None if the type of something inside them is not known."""
        types: list[Any] = []
        for kind in self._kinds:
            found = self._type_of_items() if kind is list else self._type_of_members() if kind is dict else None
            if kind not in _DECODED or (found is None and kind in (list, dict)):
                return None
            types.append(_DECODED[kind] if found is None else found)
        return Union[tuple(types)] if types else None  # noqa: UP007

    def _type_of_items(self) -> Any | None:
        items = None if self._items is None else self._items.type()
        return None if items is None else list[items]

    def _type_of_members(self) -> Any | None:
        if not 0 < len(self._members) <= _MOST_MEMBERS or not all(map(can_be_named, self._members)):
            return None
        types = {name: member.type() for name, member in self._members.items()}
        return None if None in types.values() else _struct(types, self._always or set())


def _struct(types: Mapping[str, Any], always: Set[str]) -> type[msgspec.Struct]:
    """A struct for objects that have only members of these *types*, and always those in *always*."""
    attributes = {name: f"f{number}" for number, name in enumerate(types)}
    needed = [(attributes[name], one) for name, one in types.items() if name in always]
    others = [
        (attributes[name], Union[one, msgspec.UnsetType], msgspec.UNSET)  # noqa: UP007
        for name, one in types.items()
        if name not in always
    ]
    return msgspec.defstruct(
        "Record",
        [*needed, *others],
        rename={attribute: name for name, attribute in attributes.items()},
        forbid_unknown_fields=True,
        gc=False,
    )


def _nothing(unset: object) -> None:
    """Makes orjson write null for a field that a record does not have; only for a check of the depth of the others."""


class Elements:
    """A pass over JSON objects, a batch at a time, that finds out what they have in common."""

    def __init__(self) -> None:
        self._layouts = Layouts()
        self._sample = Sampling[Any]()
        self._counted: dict[str, Counter[Any]] = {}
        self._uncounted: set[str] = set()
        """Fields that have too many different values."""

    def take(self, array: bytes) -> Known | None:
        """Take in a batch, as a JSON array, if it has only known fields and types.

        If it has others, or if reading it might lose something, it is not taken in, and None is returned.
        """
        structs = self._layouts.decode(array)
        lines = None if structs is None else self._layouts.lines(structs)
        if structs is None or lines is None:
            return None
        return self._known(structs, lines, array_of(lines), array)

    def take_lines(self, lines: bytes) -> Known | None:
        """Take in objects, each on a line of its own; None as for `take`."""
        # With a comma in place of each line feed, the lines are the items of an array only if there is exactly one line
        # feed between two objects, and none within an object: otherwise, a comma would be missing, or one too many.
        structs = self._layouts.decode_lines(lines)
        array = None if structs is None else self._layouts.array(structs)
        return None if structs is None or array is None else self._known(structs, None, array, array_of(lines))

    def take_texts(self, texts: bytes) -> Known | None:
        """Take in objects whose texts have a null character between them; None as for `take`."""
        structs = self._layouts.decode_lines(texts.replace(b"\0", b"\n"))  # sound as in `take_lines`
        lines = None if structs is None else self._layouts.lines(structs)
        if structs is None or lines is None:
            return None
        return self._known(structs, lines, array_of(lines), array_of(texts, b"\0"))

    def _known(self, structs: list[Any], lines: bytes | None, written: bytes, original: bytes) -> Known | None:
        """Take in objects that were decoded from the JSON *original*, and are *written* as JSON now.

        None if the two differ in more than spaces and escapes.
        """
        has_escapes = False
        if written != original:
            spaceless = _without_spaces(original)
            has_escapes = written != spaceless
            if has_escapes and not _is_without_escapes(written, spaceless):
                return None
        names = self._layouts.names
        self._sample.take(len(structs), structs.__getitem__)
        for name, counted in list(self._counted.items()):
            if name in self._layouts.texts:
                counted.update(map(attrgetter(names[name]), structs))
            if name not in self._layouts.texts or len(counted) > _MOST_VALUES:
                self._stop_counting(name)
        return Known(len(structs), lines, has_escapes)

    def learn(self, records: list[dict[str, Any]]) -> None:
        """Take in objects that may have new fields and types."""
        if not self._layouts.are_many:
            self._layouts.learn(records)
            self._sample.take(len(records), records.__getitem__)
            for name in dict.fromkeys(chain.from_iterable(records)):
                if name not in self._uncounted:
                    counted = self._counted.setdefault(name, Counter())
                    counted.update(text for record in records if isinstance(text := record.get(name), str))
                    if len(counted) > _MOST_VALUES or len(self._counted) > _MOST_COUNTED:
                        self._stop_counting(name)

    def _stop_counting(self, name: str) -> None:
        del self._counted[name]
        self._uncounted.add(name)

    def findings(self) -> Survey:
        """The facts found so far."""
        if self._layouts.are_many:
            return Survey((), ())
        sample: list[Mapping[str, Any]] = [
            msgspec.to_builtins(one) if isinstance(one, msgspec.Struct) else one for one in self._sample.chosen
        ]
        counted = {
            name: Counter({value: number for value, number in values.items() if isinstance(value, str)})
            for name, values in self._counted.items()
        }
        return Survey(self._layouts.found(), sample, counted)


class Known(NamedTuple):
    """A batch that has only known fields and types."""

    size: int
    lines: bytes | None
    """Its objects, each on a line of its own; None if they are not needed in this form."""
    has_escapes: bool = False
    """True if the array has an escape such as ``\\u4e2d`` where the lines have the character itself."""


def texts_of(arrays: Iterable[bytes], name: str) -> Iterator[str]:
    """The texts of a field of the objects in JSON arrays."""
    struct = msgspec.defstruct("Field", [("value", Any, None)], rename={"value": name}, gc=False)
    decoder: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[struct])
    return chain.from_iterable(map(_texts, map(decoder.decode, arrays)))


def _texts(fields: list[Any]) -> list[str]:
    values = list(map(attrgetter("value"), fields))
    return values if set(map(type, values)) == {str} else [value for value in values if isinstance(value, str)]


def can_be_named(name: str) -> bool:
    """False for a name that has to be escaped, which msgspec does not support."""
    return encode(name) == f'"{name}"'.encode()


def array_of(texts: bytes, between: bytes = b"\n") -> bytes:
    """The values of JSON texts, which are separated by *between*, as one JSON array."""
    return b"[%b]" % texts.replace(between, b",")


def _without_spaces(text: bytes) -> bytes:
    """A JSON text without spaces between its tokens; empty if it is not JSON."""
    try:
        return msgspec.json.format(text, indent=-1)
    except (ValueError, RecursionError):
        return b""


def _is_without_escapes(one: bytes, other: bytes) -> bool:
    """True if *one* is the JSON text *other* with characters in place of their escapes.

    Only one spelling is recognised: every character beyond ASCII is an escape with small letters, and is neither in
    Latin-1 nor beyond U+FFFF.
    """
    return b"\\u" in other and one.decode().encode("ascii", "backslashreplace") == other
