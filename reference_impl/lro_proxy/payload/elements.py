"""Elements of JSON arrays, a batch at a time: which fields and types they have, and whether JSON changes by decoding.

JSON is changed by decoding if the decoded values, written as JSON again, differ in more than spaces and escapes.

A batch that has only known fields and types is decoded into structs. That takes half the time of decoding into
dictionaries, and it fails if the batch has anything new. The *layout* of a record is the names and types of its fields.
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

MAX_LAYOUTS = 2000
"""If records have more layouts than this, they have nothing in common that a schema could state."""
_MAX_COUNTED_FIELDS, _MAX_VALUES = 12, 1000
"""Maximum number of fields whose string values are counted, and maximum number of different values of such a field."""
_MAX_DECODED_FIELDS = 200
"""Records with more fields are not decoded into structs."""
_MAX_TYPED_DEPTH, _MAX_MEMBERS = 3, 20
"""A field with lists or objects is decoded with the types of their items and members only within two limits. No list or
object may be nested deeper than the first limit (the field's own value is at level 0). No object may have more members
than the second limit. A field beyond these limits is decoded without types."""
_MAX_SURPRISES = 3
"""A surprise is a batch that could not be decoded although its layouts were known, usually because something inside a
list or an object was new. After more surprises than this, lists and objects are decoded without types."""
_DECODING_TYPES: Mapping[type, Any] = {
    str: str,
    bool: bool,
    int: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],  # other readers may read a larger integer as a float
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
        self._layouts: dict[Layout, None] = {}
        self._decoder: _Decoder | None = None
        self.attribute_names: dict[str, str] = {}
        """For each field, the name of its attribute in decoded records."""
        self.texts: set[str] = set()
        """Fields of decoded records whose values are all texts or null."""
        self._inner: dict[str, _InnerTypes] = {}
        """Types within the lists and objects of a field."""
        self._surprises = 0
        self._untyped: list[str] = []
        """Attributes with lists and objects that may have anything in them."""

    @property
    def are_many(self) -> bool:
        """True if there are so many layouts that the records have nothing in common."""
        return len(self._layouts) > MAX_LAYOUTS

    def as_list(self) -> list[Layout]:
        """The layouts; if a field has decimals in any record, its integers are of type float, too."""
        fields = {field for names, types in self._layouts for field in zip(names, types, strict=True)}
        decimals = {name for name, type in fields if type in (float, orjson.Fragment)}
        return [
            (names, tuple(float if n in decimals and t is int else t for n, t in zip(names, types, strict=True)))
            for names, types in self._layouts
        ]

    def learn(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take in records that may have new layouts."""
        known = len(self._layouts)
        self._layouts.update(dict.fromkeys(map(layout_of, records)))
        if len(self._layouts) == known:
            self._surprises += self._decoder is not None
        else:
            self._decoder = None
        if self._surprises > _MAX_SURPRISES:
            return
        nested = {name for layout in self._layouts for name, kind in zip(*layout, strict=True) if kind in (list, dict)}
        if nested:
            self._decoder = None
        for name in nested:
            inner = self._inner.setdefault(name, _InnerTypes())
            for record in records:
                if name in record:
                    inner.learn(record[name])

    def decode(self, array: bytes) -> list[Any] | None:
        """The records of a JSON array as structs; None if they have unknown fields or types."""
        return self._decode(lambda decoder: decoder.array(array))

    def decode_lines(self, lines: bytes) -> list[Any] | None:
        """Like `decode`, for records with any spaces and line feeds, or nothing at all, between them."""
        return self._decode(lambda decoder: decoder.lines(lines))

    def _decode(self, decode: Callable[[_Decoder], list[Any]]) -> list[Any] | None:
        if self._decoder is None and not self.are_many:
            self._decoder = self._make_decoder()
        try:
            return None if self._decoder is None else decode(self._decoder)
        except (ValueError, RecursionError):  # an unknown field or type, or no JSON
            return None

    def lines(self, structs: list[Any]) -> bytes | None:
        """Decoded records as lines; None if a record is nested too deeply for orjson."""
        return self._encode(structs, lambda: _ENCODER.encode_lines(structs)[:-1])

    def array(self, structs: list[Any]) -> bytes | None:
        """Decoded records as a JSON array; None if a record is nested too deeply for orjson."""
        return self._encode(structs, lambda: _ENCODER.encode(structs))

    def _encode(self, structs: list[Any], encode: Callable[[], bytes]) -> bytes | None:
        try:
            for attribute in self._untyped:
                orjson.dumps(list(map(attrgetter(attribute), structs)), default=_write_null)
            return encode()
        except (TypeError, ValueError, RecursionError):
            return None

    def _make_decoder(self) -> _Decoder | None:
        types: dict[str, set[type]] = {}
        for names, kinds in self._layouts:
            for name, kind in zip(names, kinds, strict=True):
                types.setdefault(name, set()).add(kind)
        if not all(map(can_be_named, types)):
            return None
        required = set(types).intersection(*(names for names, _ in self._layouts))
        if not 0 < len(types) <= _MAX_DECODED_FIELDS or not all(
            kind in _DECODING_TYPES for kinds in types.values() for kind in kinds
        ):
            return None
        self.attribute_names = {name: f"f{number}" for number, name in enumerate(types)}
        self.texts = {name for name, kinds in types.items() if kinds <= {str, type(None)}}
        self._untyped = []
        annotated: dict[str, Any] = {}
        for name, kinds in types.items():
            annotated[name] = Union[tuple(_DECODING_TYPES[kind] for kind in kinds)]  # noqa: UP007
            if kinds & {list, dict}:
                inner = self._inner[name].type() if self._surprises <= _MAX_SURPRISES else None
                annotated[name] = annotated[name] if inner is None else inner
                if inner is None:
                    self._untyped.append(self.attribute_names[name])
        record: Any = _struct(annotated, required)
        return _Decoder(msgspec.json.Decoder(list[record]).decode, msgspec.json.Decoder(record).decode_lines)


class _Decoder(NamedTuple):
    """Functions that decode records into structs.

    They raise `ValueError` if a record cannot be decoded, and `RecursionError` if it is nested too deeply.
    """

    array: Callable[[bytes], list[Any]]
    lines: Callable[[bytes], list[Any]]


class _InnerTypes:
    """Types of the values in one place within records, and of the values inside those."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._kinds: set[Any] = set()
        self._items: _InnerTypes | None = None
        self._members: dict[str, _InnerTypes] = {}
        self._required: set[str] | None = None

    def learn(self, value: Any) -> None:
        """Take in a value."""
        self._kinds.add(type(value))
        if self._depth > _MAX_TYPED_DEPTH or len(self._members) > _MAX_MEMBERS:
            return
        if isinstance(value, list):
            self._items = self._items or _InnerTypes(self._depth + 1)
            for item in cast("list[Any]", value):
                self._items.learn(item)
        elif isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            self._required = set(members) if self._required is None else self._required.intersection(members)
            for name, member in members.items():
                self._members.setdefault(name, _InnerTypes(self._depth + 1)).learn(member)

    def type(self) -> Any | None:
        """A type that decodes such values; None if something inside them has an unknown type."""
        types: list[Any] = []
        for kind in self._kinds:
            typed = self._type_of_items() if kind is list else self._type_of_members() if kind is dict else None
            if kind not in _DECODING_TYPES or (typed is None and kind in (list, dict)):
                return None
            types.append(_DECODING_TYPES[kind] if typed is None else typed)
        return Union[tuple(types)] if types else None  # noqa: UP007

    def _type_of_items(self) -> Any | None:
        items = None if self._items is None else self._items.type()
        return None if items is None else list[items]

    def _type_of_members(self) -> Any | None:
        if not 0 < len(self._members) <= _MAX_MEMBERS or not all(map(can_be_named, self._members)):
            return None
        types = {name: member.type() for name, member in self._members.items()}
        return None if None in types.values() else _struct(types, self._required or set())


def _struct(types: Mapping[str, Any], required: Set[str]) -> type[msgspec.Struct]:
    """A struct for objects that have only members of these *types*, and always those in *required*."""
    attributes = {name: f"f{number}" for number, name in enumerate(types)}
    required_fields = [(attributes[name], type_) for name, type_ in types.items() if name in required]
    optional_fields = [
        (attributes[name], Union[type_, msgspec.UnsetType], msgspec.UNSET)  # noqa: UP007
        for name, type_ in types.items()
        if name not in required
    ]
    return msgspec.defstruct(
        "Record",
        [*required_fields, *optional_fields],
        rename={attribute: name for name, attribute in attributes.items()},
        forbid_unknown_fields=True,
        gc=False,
    )


def _write_null(unset: object) -> None:
    """Makes orjson write null for a field that a record lacks.

    The output of orjson is not used: orjson only shows whether the values of the field are nested too deeply for it.
    """


class Elements:
    """A pass over JSON objects, a batch at a time, that finds out what they have in common."""

    def __init__(self) -> None:
        self._layouts = Layouts()
        self._sample = Sampling[Any]()
        self._counted: dict[str, Counter[Any]] = {}
        self._uncounted: set[str] = set()
        """Fields that have too many different values."""

    def take(self, array: bytes) -> KnownBatch | None:
        """Take in a batch, as a JSON array, if it has only known fields and types.

        If the batch has others, or if reading it might lose something, it is not taken in, and None is returned.
        """
        structs = self._layouts.decode(array)
        lines = None if structs is None else self._layouts.lines(structs)
        if structs is None or lines is None:
            return None
        return self._take_decoded(structs, lines, array_of(lines), array)

    def take_lines(self, lines: bytes) -> KnownBatch | None:
        """Take in objects, each on a line of its own. Returns None in the same cases as `take`."""
        # With a comma in place of each line feed, the lines are the items of an array only if there is exactly one line
        # feed between two objects, and none within an object. Otherwise, there is a comma too few or too many.
        structs = self._layouts.decode_lines(lines)
        array = None if structs is None else self._layouts.array(structs)
        return None if structs is None or array is None else self._take_decoded(structs, None, array, array_of(lines))

    def take_texts(self, texts: bytes) -> KnownBatch | None:
        """Take in objects whose texts have a null character between them. Returns None in the same cases as `take`."""
        structs = self._layouts.decode_lines(texts.replace(b"\0", b"\n"))  # safe for the same reason as in `take_lines`
        lines = None if structs is None else self._layouts.lines(structs)
        if structs is None or lines is None:
            return None
        return self._take_decoded(structs, lines, array_of(lines), array_of(texts, b"\0"))

    def _take_decoded(
        self, structs: list[Any], lines: bytes | None, written: bytes, original: bytes
    ) -> KnownBatch | None:
        """Take in decoded objects. *original* is the JSON from which they were decoded, and *written* is the JSON to
        which they were encoded again.

        Returns None if *original* and *written* differ in more than spaces and escapes.
        """
        has_escapes = False
        if written != original:
            spaceless = _without_spaces(original)
            has_escapes = written != spaceless
            if has_escapes and not _is_without_escapes(written, spaceless):
                return None
        attribute_names = self._layouts.attribute_names
        self._sample.take(len(structs), structs.__getitem__)
        for name, counted in list(self._counted.items()):
            if name in self._layouts.texts:
                counted.update(map(attrgetter(attribute_names[name]), structs))
            if name not in self._layouts.texts or len(counted) > _MAX_VALUES:
                self._stop_counting(name)
        return KnownBatch(len(structs), lines, has_escapes)

    def learn(self, records: list[dict[str, Any]]) -> None:
        """Take in objects that may have new fields and types."""
        if not self._layouts.are_many:
            self._layouts.learn(records)
            self._sample.take(len(records), records.__getitem__)
            for name in dict.fromkeys(chain.from_iterable(records)):
                if name not in self._uncounted:
                    counted = self._counted.setdefault(name, Counter())
                    counted.update(text for record in records if isinstance(text := record.get(name), str))
                    if len(counted) > _MAX_VALUES or len(self._counted) > _MAX_COUNTED_FIELDS:
                        self._stop_counting(name)

    def _stop_counting(self, name: str) -> None:
        del self._counted[name]
        self._uncounted.add(name)

    def findings(self) -> Survey:
        """The facts found so far."""
        if self._layouts.are_many:
            return Survey((), ())
        sample: list[Mapping[str, Any]] = [
            msgspec.to_builtins(item) if isinstance(item, msgspec.Struct) else item for item in self._sample.items
        ]
        counted = {
            name: Counter({value: number for value, number in values.items() if isinstance(value, str)})
            for name, values in self._counted.items()
        }
        return Survey(self._layouts.as_list(), sample, counted)


class KnownBatch(NamedTuple):
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


def array_of(texts: bytes, separator: bytes = b"\n") -> bytes:
    """The values of JSON texts, which are separated by *separator*, as one JSON array."""
    return b"[%b]" % texts.replace(separator, b",")


def _without_spaces(text: bytes) -> bytes:
    """A JSON text without spaces between its tokens; empty if it is not JSON."""
    try:
        return msgspec.json.format(text, indent=-1)
    except (ValueError, RecursionError):
        return b""


def _is_without_escapes(text: bytes, escaped: bytes) -> bool:
    """True if *escaped* is the same JSON text as *text*, except that it has an escape for each character beyond ASCII.

    The escapes must have lower-case hexadecimal digits. A text is not recognised if it has a character from U+0080 to
    U+00FF or beyond U+FFFF.
    """
    return b"\\u" in escaped and text.decode().encode("ascii", "backslashreplace") == escaped
