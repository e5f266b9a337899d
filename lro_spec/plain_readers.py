"""Recipes beside the standard ones: a row of tools that only read and print, whatever they make of it.

``tail -n +2 FILE | jq -r .title | sort | uniq -c``, ``wc -l FILE``: understood as far as which file is read, and that
nothing is written, started or expanded. What they print is nobody's to judge.
"""

from __future__ import annotations

import re

from lro_spec.pipeline import one_stage
from lro_spec.shellwords import SUBSTITUTED, RecipeSyntaxError, file_of, split_pipeline

_OPTIONS = {
    "sort": "bdfghiknrstuV",
    "uniq": "cdiu", "wc": "clmwL", "cut": "bcdfs", "tr": "cds", "grep": "EFchinovwx", "nl": "b",
}  # fmt: skip
"""The options that take no file and start nothing; `sort -o` would write."""
_WORDS = {"tr": 2, "grep": 1}
"""How many words that are no file come before it."""
_VALUE = re.compile(r"[0-9][0-9,.a-z]*|[^\w./-]|\\[tn]")


def file_read(command: str) -> str | None:
    """The file that such a row reads; None where it is none, or where it is not sure that it only reads."""
    try:
        stages = split_pipeline(command)
        files = [file_of(rest, _file(program, rest, first=not n)) for n, (program, *rest) in enumerate(stages)]
    except RecipeSyntaxError:
        return None
    return files[0] if files and not any(files[1:]) else None


def _file(program: str, words: list[str], *, first: bool) -> str | None:
    letters = _OPTIONS.get(program)
    if letters is None:
        return one_stage(program, words)
    operands: list[str] = []
    for word in words:
        if word.startswith("-") and word != "-":
            if not re.fullmatch(rf"-[{letters}][{letters}0-9,.:;|]*", word):
                raise RecipeSyntaxError(f"{program} {word}: not understood")
        elif program in _WORDS or not _VALUE.fullmatch(word):
            operands.append(word)
    files = operands[_WORDS.get(program, 0) :]
    if len(files) > 1 or (files and not first and files[0] != SUBSTITUTED):
        raise RecipeSyntaxError(f"{program} reads {files[-1]!r} and not the pipe")
    return files[0] if files else None
