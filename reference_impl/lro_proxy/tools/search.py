"""Searching the lines of files by a regular expression, and rendering the matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from lro_proxy.tools.base import Workbench
from lro_proxy.tools.limits import Refused, joined


def matching_lines(
    bench: Workbench, files: Sequence[BinaryIO], pattern: str, *, case_sensitive: bool, max_matches: int
) -> tuple[list[int], bool]:
    """The numbers of the first *max_matches* matching lines, and True if there are more.

    The numbers start at 1, and continue from file to file. The pattern runs in the sandbox. Raises `Refused`.
    """
    if len(pattern) > bench.limits.program_characters:
        max_characters = bench.limits.program_characters
        raise Refused(f"the pattern has {len(pattern)} characters; at most {max_characters} are allowed")
    matches = bench.queries.search(pattern, files, case_sensitive=case_sensitive, limit=max_matches + 1)
    return matches[:max_matches], len(matches) > max_matches


def regions(file: BinaryIO, matches: Sequence[int], context: int, limit: int) -> str:
    """The matching lines as ``> 12: text``, and the lines around them as ``  13: text``. Adjacent regions are merged.

    Raises `TooLarge` above *limit* characters.
    """
    return joined(marked_lines(file, matches, context), limit)


def marked_lines(file: BinaryIO, matches: Sequence[int], context: int) -> Iterator[bytes]:
    """Yield the lines of `regions` one by one."""
    numbers = set(matches)
    shown_numbers = {nearby for number in numbers for nearby in range(number - context, number + context + 1)}
    last, previous = max(numbers) + context, 0
    file.seek(0)
    for number, line in enumerate(file, 1):
        if number > last:
            return
        if number in shown_numbers:
            if previous and previous < number - 1:
                yield b"--"
            previous = number
            yield (b"> " if number in numbers else b"  ") + b"%d: " % number + line.rstrip(b"\r\n")
