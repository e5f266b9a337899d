"""Line filters in recipes: commands of awk, grep and sed that only choose lines.

Examples are ``awk 'NR > 1'``, ``grep -v lro_header``, ``awk '!/lro_header/'`` and ``sed '/lro_header/d'``. These
commands are parsed here and never run, because an awk program can start other programs and write files.
"""

from __future__ import annotations

import re

from lro_spec.recipes.shell import RecipeSyntaxError

_BY_NUMBER = re.compile(r"F?NR(>=|>|!=|==|<=|<)([0-9]{1,9})(?:\{print(?:\$0)?;?\})?")
_LINES_WITHOUT_TEXT = re.compile(r"(?:\$0\s*!~|!)\s*/([^/\n]+)/\s*(?:\{\s*print(?:\s+\$0)?\s*;?\s*\})?")
_DELETE_LINES_WITH_TEXT = re.compile(r"/([^/\n]+)/\s*d")
_SPECIAL = re.compile(r"[\\.\[*^$]")
_SPECIAL_EXTENDED = re.compile(r"[\\.\[*^$+?{}()|]")


class NotInterpretedError(RecipeSyntaxError):
    """A stage uses something that is not interpreted here, so it is unknown whether the command is right."""


def awk_lines(words: list[str]) -> tuple[bool, int, list[str]]:
    """Return True if an awk command keeps its first lines (False if it drops them), their number, and the files.

    Raises `NotInterpretedError` if the command does something else.
    """
    program, *files = words[1:] if words[:1] == ["--"] else words or [""]
    match = _BY_NUMBER.fullmatch("".join(program.split()))
    if match is not None:
        sign, number = match[1], int(match[2])
        if sign in (">", ">=") or (sign, number) == ("!=", 1):
            return False, max(0, number - (sign == ">=")), files
        if sign in ("<", "<=") or (sign, number) == ("==", 1):
            return True, max(0, number - (sign == "<")), files
    raise NotInterpretedError(
        f"awk {program!r}: only a selection by line number (awk 'NR>1') or of lines without a text (awk '!/x/') "
        "is understood"
    )


def awk_exclusion(words: list[str]) -> tuple[str, list[str]] | None:
    """Return the text of an awk command that leaves out all lines with that text, and the files. Returns None for any
    other command."""
    program, *files = words[1:] if words[:1] == ["--"] else words or [""]
    match = _LINES_WITHOUT_TEXT.fullmatch(program.strip())
    return None if match is None or _SPECIAL_EXTENDED.search(match[1]) else (match[1], files)


def sed_exclusion(script: str) -> str | None:
    """Return the text of a sed script that leaves out all lines with that text. Returns None for any other script."""
    match = _DELETE_LINES_WITH_TEXT.fullmatch(script.strip())
    return None if match is None or _SPECIAL.search(match[1]) else match[1]


def grep_exclusion(words: list[str]) -> tuple[str, list[str]]:
    """Return the text of a grep command that leaves out all lines with that text, and the files.

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
