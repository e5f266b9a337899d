"""Records and lines that exist a batch at a time, so that a large result is in memory only once.

A small result is a single batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Generic, TypeVar

import orjson

from lro_proxy.payload.survey import Survey
from lro_reference.writer import encode
from lro_spec.jsonl import lossless

Item = TypeVar("Item")


class Batched(Generic[Item]):
    """Items that are made a batch at a time, each time they are read."""

    def __init__(
        self,
        count: int,
        batches: Callable[[], Iterable[Sequence[Item]]],
        json: Callable[[], Iterable[bytes]] | None = None,
    ) -> None:
        self._count, self.batches = count, batches
        self.json = json
        """Returns the batches as JSON arrays that orjson can parse; None if the items do not exist in this form."""
        self.findings: Survey | None = None
        """Findings of the pass that read the items; None if it has not collected any."""

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(self.batches())

    def texts(self, name: str) -> Iterator[str] | None:
        """The texts of a field, read without the other fields; None if that is not possible."""
        return None


class BatchedLines:
    """Serialised records, made a block of lines at a time."""

    def __init__(self, count: int, blocks: Callable[[], Iterator[bytes]]) -> None:
        self._count, self.blocks = count, blocks

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))


def parse(text: bytes) -> Any:
    """The value of a JSON text; floats and integers beyond 64 bits may lose digits."""
    try:
        return orjson.loads(text)
    except ValueError:  # half of a surrogate pair
        return lossless.parse(text)


def has_all_members(value: Any, text: bytes) -> bool:
    """True if a value certainly has every member of the JSON text from which it was parsed.

    A member is lost if its key occurs twice. The quotes in the text and in the JSON of the value are counted: if a
    member was lost, the value has fewer quotes.
    """
    try:
        return b"\\u0022" not in text and orjson.dumps(value).count(b'"') == text.count(b'"')
    except TypeError:  # nested too deeply
        return False


def encoded(batches: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """A block of lines for each batch of records."""
    return map(_encoded, batches)


def _encoded(batch: Sequence[Any]) -> bytes:
    # All records are written at once. They are written one by one if a record is not an object, if something within a
    # record looks like the boundary between two records, or if orjson cannot write a record.
    try:
        text = orjson.dumps(batch)[1:-1]
    except TypeError:
        text = b""
    if text.count(b"},{") == len(batch) - 1 and set(map(type, batch)) == {dict}:
        return text.replace(b"},{", b"}\n{")
    return b"\n".join(map(encode, batch))


def are_same_lines(first: Iterable[bytes], second: Iterable[bytes]) -> bool:
    """True if two series of blocks have the same lines. The number of lines in each block may differ."""
    rest_of_first, rest_of_second = b"", b""
    first_blocks = iter(first)
    for block in second:
        rest_of_second += block + b"\n"
        while len(rest_of_first) < len(rest_of_second) and (next_block := next(first_blocks, None)) is not None:
            rest_of_first += next_block + b"\n"
        shared = min(len(rest_of_first), len(rest_of_second))
        if rest_of_first[:shared] != rest_of_second[:shared]:
            return False
        rest_of_first, rest_of_second = rest_of_first[shared:], rest_of_second[shared:]
    return not rest_of_first and not rest_of_second and next(first_blocks, None) is None


def numbered(batches: Iterable[Sequence[Any]], member: str) -> Iterator[list[dict[str, Any]]]:
    """Items as records ``{"n", member}``, numbered from 1."""
    first = 1
    for batch in batches:
        yield [{"n": n, member: item} for n, item in enumerate(batch, first)]
        first += len(batch)
