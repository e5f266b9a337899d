"""A pass over records that finds out what they have in common (`lro_proxy.payload.survey.Survey`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import Annotated, Any, TypeGuard, Union, cast

import msgspec
import orjson

from lro_proxy.payload.batches import Batched, parse
from lro_proxy.payload.survey import SAMPLE, Layout, Survey, place
from lro_reference.results import Records
from lro_reference.writer import encode

MOST_LAYOUTS = 2000
"""Records of more different layouts have nothing in common that a schema could state."""
_WORTH_A_GUESS = 1000
_MOST_VALUES = 10_000
_MOST_DECODED = 200
"""Fields of records that are decoded into structs."""
_DECODED: Mapping[type, Any] = {
    str: str,
    bool: bool,
    int: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)],  # a larger one may be a float to others
    float: float,
    list: list[msgspec.Raw],
    dict: dict[str, msgspec.Raw],
    type(None): None,
}
"""Types by which values are decoded; what lists and objects hold is skipped."""

Guess = Callable[[Sequence[Layout], Sequence[Mapping[str, Any]]], str | None]


def survey(records: Records, guess: Guess) -> Survey:
    """Look at every record; if they are many, *guess* names, from the first ones, a field whose texts are counted.

    Records of which the pass that read them has found all out are not looked at again.
    """
    if _are_batched(records) and records.findings is not None:
        return records.findings
    step = max(1, len(records) // SAMPLE)
    layouts = _Layouts()
    sample: list[Mapping[str, Any]] = []
    guessed: str | None = None
    counted = Counter[str]()
    begun = 0
    for batch in _batches(records, layouts):
        if begun == 0 and len(records) >= _WORTH_A_GUESS:
            head = list(islice(records, SAMPLE))
            guessed = guess(list(map(_layout, head)), head)
        if layouts.are_many:
            return Survey((), ())
        while (wanted := place(len(sample), step) - begun) < len(batch):
            sample.append(batch.record(wanted))
        begun += len(batch)
        if guessed is not None:
            counted.update(batch.texts(guessed))
            guessed = guessed if len(counted) <= _MOST_VALUES else None
    return Survey(layouts.found(), sample, {} if guessed is None else {guessed: counted})


def count(records: Records, name: str) -> Counter[str]:
    """The frequency of each text of a field."""
    if _are_batched(records) and (texts := records.texts(name)) is not None:
        return Counter(texts)
    return Counter(chain.from_iterable(batch.texts(name) for batch in _batches(records, _Layouts())))


class _Layouts:
    """The layouts of records, and a decoder for records that have no other fields and types."""

    def __init__(self) -> None:
        self._known: dict[Layout, None] = {}
        self._decoder: msgspec.json.Decoder[list[Any]] | None = None
        self.names: dict[str, str] = {}
        """The attributes of decoded records, by field."""

    @property
    def are_many(self) -> bool:
        return len(self._known) > MOST_LAYOUTS

    def found(self) -> list[Layout]:
        """The layouts; where a field has decimals, its integers are numbers like them."""
        fields = {field for names, types in self._known for field in zip(names, types, strict=True)}
        decimals = {name for name, type in fields if type in (float, orjson.Fragment)}
        return [
            (names, tuple(float if n in decimals and t is int else t for n, t in zip(names, types, strict=True)))
            for names, types in self._known
        ]

    def learn(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Look at each record."""
        known = len(self._known)
        self._known.update(dict.fromkeys(map(_layout, records)))
        if len(self._known) > known:
            self._decoder = None

    def decode(self, text: bytes) -> list[Any] | None:
        """The records of a JSON array, if they have only known fields and types, as structs; otherwise None."""
        if self._decoder is None:
            self._decoder = self._make_decoder()
        try:
            return None if self._decoder is None else self._decoder.decode(text)
        except msgspec.MsgspecError:
            return None

    def _make_decoder(self) -> msgspec.json.Decoder[list[Any]] | None:
        types: dict[str, set[type]] = {}
        for names, kinds in self._known:
            for name, kind in zip(names, kinds, strict=True):
                types.setdefault(name, set()).add(kind)
        if any(encode(name) != f'"{name}"'.encode() for name in types):  # msgspec takes no name that has to be escaped
            return None
        always = set(types).intersection(*(names for names, _ in self._known))
        if not 0 < len(types) <= _MOST_DECODED or not all(
            kind in _DECODED for kinds in types.values() for kind in kinds
        ):
            return None
        self.names = {name: f"f{number}" for number, name in enumerate(types)}
        annotated = [
            (self.names[name], Union[tuple(_DECODED[kind] for kind in kinds)])  # noqa: UP007
            for name, kinds in types.items()
        ]
        needed = [one for one, name in zip(annotated, types, strict=True) if name in always]
        others = [
            (field, Union[kind, msgspec.UnsetType], msgspec.UNSET)  # noqa: UP007
            for (field, kind), name in zip(annotated, types, strict=True)
            if name not in always
        ]
        struct = msgspec.defstruct(
            "Record",
            [*needed, *others],
            rename={field: name for name, field in self.names.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
        return msgspec.json.Decoder(list[struct])


class _Records:
    """A batch of parsed records."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def record(self, place: int) -> Mapping[str, Any]:
        return self._records[place]

    def texts(self, name: str) -> Iterable[str]:
        return (text for record in self._records if isinstance(text := record.get(name), str))


class _Structs:
    """A batch of decoded records."""

    def __init__(self, structs: list[Any], names: Mapping[str, str]) -> None:
        self._structs, self._names = structs, names

    def __len__(self) -> int:
        return len(self._structs)

    def record(self, place: int) -> Mapping[str, Any]:
        struct = self._structs[place]
        members = ((name, getattr(struct, field)) for name, field in self._names.items())
        return {name: _parsed(member) for name, member in members if member is not msgspec.UNSET}

    def texts(self, name: str) -> Iterable[str]:
        if name not in self._names:
            return ()
        return (text for text in map(attrgetter(self._names[name]), self._structs) if isinstance(text, str))


def _batches(records: Records, layouts: _Layouts) -> Iterator[_Records | _Structs]:
    """Batches of records, whose layouts are learned.

    A batch of JSON is decoded into structs if it has nothing new: that takes a third of the time of a look at each.
    """
    batched: Batched[Mapping[str, Any]] | None = records if _are_batched(records) else None
    if batched is None or batched.json is None:
        batches: Iterable[Sequence[Mapping[str, Any]]] = [list(records)] if batched is None else batched.batches()
        for batch in batches:
            layouts.learn(batch)
            yield _Records(batch)
        return
    for text in batched.json():
        structs = layouts.decode(text)
        if structs is not None:
            yield _Structs(structs, layouts.names)
        else:
            batch = parse(text)
            layouts.learn(batch)
            yield _Records(batch)


def _are_batched(records: Records) -> TypeGuard[Batched[Mapping[str, Any]]]:
    return isinstance(records, Batched)


def _parsed(member: Any) -> Any:
    if isinstance(member, list):
        return [orjson.loads(bytes(item)) for item in cast("list[msgspec.Raw]", member)]
    if isinstance(member, dict):
        return {key: orjson.loads(bytes(item)) for key, item in cast("dict[str, msgspec.Raw]", member).items()}
    return member


def _layout(record: Mapping[str, Any]) -> Layout:
    return tuple(record), tuple(map(type, record.values()))
