"""Line filters in recipes: awk, grep and sed that only choose lines (``awk 'NR > 1'``, ``grep -v lro_header``,
``awk '!/lro_header/'``, ``sed '/lro_header/d'``).

They are parsed here and never run: an awk program can start others and write files.
"""

from __future__ import annotations

import re

from lro_spec.recipes.shell import RecipeSyntaxError

_BY_NUMBER = re.compile(r"F?NR(>=|>|!=|==|<=|<)([0-9]{1,9})(?:\{print(?:\$0)?;?\})?")
_NOT_THE_TEXT = re.compile(r"(?:\$0\s*!~|!)\s*/([^/\n]+)/\s*(?:\{\s*print(?:\s+\$0)?\s*;?\s*\})?")
_DELETE_THE_TEXT = re.compile(r"/([^/\n]+)/\s*d")
_SPECIAL = re.compile(r"[\\.\[*^$]")
_SPECIAL_EXTENDED = re.compile(r"[\\.\[*^$+?{}()|]")


class NotInterpretedError(RecipeSyntaxError):
    """A stage uses something that is not interpreted here, so it is unknown whether the command is right."""


def awk_lines(words: list[str]) -> tuple[bool, int, list[str]]:
    """True if an awk command keeps the first lines (False if it drops them), the number of these lines, and the files.

    Raises `NotInterpretedError` if the command does something else.
    """
    program, *files = words[1:] if words[:1] == ["--"] else words or [""]
    found = _BY_NUMBER.fullmatch("".join(program.split()))
    if found is not None:
        sign, number = found[1], int(found[2])
        if sign in (">", ">=") or (sign, number) == ("!=", 1):
            return False, max(0, number - (sign == ">=")), files
        if sign in ("<", "<=") or (sign, number) == ("==", 1):
            return True, max(0, number - (sign == "<")), files
    raise NotInterpretedError(
        f"awk {program!r}: only a selection by line number (awk 'NR>1') or of lines without a text (awk '!/x/') "
        "is understood"
    )


def awk_exclusion(words: list[str]) -> tuple[str, list[str]] | None:
    """The text of an awk command that leaves out all lines with that text, and the files; None for any other
    command."""
    program, *files = words[1:] if words[:1] == ["--"] else words or [""]
    found = _NOT_THE_TEXT.fullmatch(program.strip())
    return None if found is None or _SPECIAL_EXTENDED.search(found[1]) else (found[1], files)


def sed_exclusion(script: str) -> str | None:
    """The text of a sed script that leaves out all lines with that text; None for any other script."""
    found = _DELETE_THE_TEXT.fullmatch(script.strip())
    return None if found is None or _SPECIAL.search(found[1]) else found[1]


def grep_exclusion(words: list[str]) -> tuple[str, list[str]]:
    """The text of a grep command that leaves out all lines with that text, and the files.

    Raises `NotInterpretedError` if the command does something else.
    """
    letters, pattern = "", None
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            files.extend(rest)
        elif word == "-e" and pattern is None:
            pattern = next(rest, "")
        elif re.fullmatch(r"-[vFEah]+", word):
            letters += word[1:]
        elif word.startswith("-") and word != "-":
            raise NotInterpretedError(f"grep {word}: only grep -v of a plain text is understood")
        else:
            files.append(word)
    if pattern is None and files:
        pattern = files.pop(0)
    special = _SPECIAL_EXTENDED if "E" in letters else _SPECIAL
    if "v" not in letters or not pattern or "\n" in pattern or ("F" not in letters and special.search(pattern)):
        raise NotInterpretedError(f"grep {pattern!r}: only grep -v of a plain text is understood")
    return pattern, files
