"""Searching the lines of files by a regular expression, and rendering the matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from lro_proxy.tools.base import Workbench
from lro_proxy.tools.limits import Refused, joined


def matching(
    bench: Workbench, files: Sequence[BinaryIO], pattern: str, *, case_sensitive: bool, most: int
) -> tuple[list[int], bool]:
    """The numbers of the first matching lines, from 1 and continued across the files, and True if there are more.

    The pattern runs in the sandbox. Raises `Refused`.
    """
    if len(pattern) > bench.limits.program_characters:
        most_characters = bench.limits.program_characters
        raise Refused(f"the pattern has {len(pattern)} characters; at most {most_characters} are allowed")
    matches = bench.queries.search(pattern, files, case_sensitive=case_sensitive, limit=most + 1)
    return matches[:most], len(matches) > most


def regions(file: BinaryIO, matches: Sequence[int], context: int, limit: int) -> str:
    """Matching lines as ``> 12: text`` and those around them as ``  13: text``; adjacent regions are merged.

    Raises `TooLarge` above *limit* characters.
    """
    return joined(marked(file, matches, context), limit)


def marked(file: BinaryIO, matches: Sequence[int], context: int) -> Iterator[bytes]:
    """Yield the lines of `regions` one by one."""
    numbers = set(matches)
    wanted = {near for number in numbers for near in range(number - context, number + context + 1)}
    last, before = max(numbers) + context, 0
    file.seek(0)
    for number, line in enumerate(file, 1):
        if number > last:
            return
        if number in wanted:
            if before and before < number - 1:
                yield b"--"
            before = number
            yield (b"> " if number in numbers else b"  ") + b"%d: " % number + line.rstrip(b"\r\n")
