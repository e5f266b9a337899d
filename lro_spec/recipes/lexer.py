"""Tokens of a jq program, to find its string literals, its fields, and constructs that read anything but its input.

A tokenizer is enough to distinguish strings from code, so programs are not parsed. `refuse_other_inputs` also refuses
programs that versions of jq read differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lro_spec.recipes.shell import RecipeSyntaxError

_REFUSED = {
    "halt": "ends jq before it has read everything",
    "halt_error": "ends jq before it has read everything",
    "env": "reads the environment",
    "ENV": "reads the environment",
    "__prog_args": "reads the command line",
    "__prog_name": "reads the command line",
    "input_filename": "reads the name of the file",
    "import": "loads a module",
    "include": "loads a module",
    "modulemeta": "loads a module",
    "get_search_list": "reads the module path",
}
"""Functions and variables that a recipe must not use, each with the reason."""
_NOT_REPEATABLE = {
    "now": "reads the clock",
    "localtime": "depends on the machine's time zone",
    "strflocaltime": "depends on the machine's time zone",
}
"""Functions whose output depends on more than the input, each with the reason."""
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>\#[^\n]*)
  | (?P<variable>\$\s*[A-Za-z_]\w*(?:::\w+)*)
  | (?P<field>\.[A-Za-z_]\w*)
  | (?P<word>@?[A-Za-z_]\w*(?:::\w+)*)
  | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_UNICODE_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_NO_PATH: tuple[str, ...] = ()
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a program."""

    kind: str
    """space, comment, variable, field, word, number, other, string, or interpolated (a string with code in it)."""
    text: str
    """The piece as it is written in the program."""
    start: int
    """Index of the first character of the piece in the program."""
    value: str = ""
    """Value of a string. The value of an interpolated string is its text without the code."""

    @property
    def name(self) -> str:
        """The text of a word, or a variable without its ``$``."""
        return self.text.lstrip("$ \t\r\n")


def tokens(program: str) -> list[Token]:
    """The tokens of a program; code within a string comes after the string.

    Raises `RecipeSyntaxError` if a string is not closed, or if strings are nested too deeply.
    """
    try:
        return list(_cached_tokens(program))
    except RecursionError:
        raise RecipeSyntaxError("strings in the jq program are nested too deeply") from None


@lru_cache(maxsize=1024)  # the same programs are in every descriptor of a run
def _cached_tokens(program: str) -> tuple[Token, ...]:
    return tuple(_tokens(program, 0, len(program)))


def refuse_other_inputs(program: str) -> None:
    r"""Refuse a program that reads anything but its input, or that ends before it has read all of it.

    Raises `RecipeSyntaxError`. Such programs use ``halt``, ``env``, ``$ENV``, ``$__prog_args``, ``input_filename``,
    modules or the like. Comments that end in a backslash or contain a carriage return are refused, too, because jq 1.6
    and 1.8 disagree about where these comments end. Programs with a NUL and programs that `tokens` refuses are also
    refused.
    """
    if "\0" in program:
        raise RecipeSyntaxError("a jq program cannot contain a NUL")
    significant_tokens = [t for t in tokens(program) if t.kind != "space"]
    for token in significant_tokens:
        if token.kind == "comment" and (token.text.endswith("\\") or "\r" in token.text):
            raise RecipeSyntaxError("a comment in the jq program ends differently in different versions of jq")
    name = next((t.name for t in _names(significant_tokens) if t.name in _REFUSED), None)
    if name is not None:
        raise RecipeSyntaxError(f"the jq program {_REFUSED[name]} ({name})")


def unrepeatable(program: str) -> str | None:
    """Return the reason why a program may give different outputs for the same input, or None if it cannot.

    Raises `RecipeSyntaxError` as `tokens` does.
    """
    code = [t for t in tokens(program) if t.kind not in ("space", "comment")]
    short_keys = _short_keys(code)
    called_names = (t.name for t in _names(code) if t.kind == "word" and t.start not in short_keys)
    return next((f"{_NOT_REPEATABLE[name]} ({name})" for name in called_names if name in _NOT_REPEATABLE), None)


def _names(code: Sequence[Token]) -> Iterator[Token]:
    """Names of functions and variables that a program uses, and short keys of objects (``{id}``), but no other keys."""
    for i, token in enumerate(code):
        previous, following = code[i - 1].text if i else "", code[i + 1].text if i + 1 < len(code) else ""
        if token.kind in ("word", "variable") and not (previous in ("{", ",") and following == ":"):
            yield token


def _short_keys(code: Sequence[Token]) -> frozenset[int]:
    """The starts of words that are short keys of objects. ``{now}`` means ``{now: .now}``, so ``now`` is a short key in
    it; ``[now]`` calls a function."""
    starts: set[int] = set()
    brackets: list[str] = []
    for previous, token, following in zip([None, *code], code, [*code[1:], None], strict=False):
        if token.text in ("{", "[", "("):
            brackets.append(token.text)
        elif token.text in ("}", "]", ")"):
            del brackets[-1:]
        elif previous is None or following is None or brackets[-1:] != ["{"]:
            continue
        elif token.kind == "word" and previous.text in ("{", ",") and following.text in (",", "}"):
            starts.add(token.start)
    return frozenset(starts)


def literals(program: str) -> list[str]:
    """The string literals of a program, in order, without interpolated strings.

    Keys of objects, field names, strings after a format such as ``@uri``, and the flags of a regular expression (the
    second argument of ``test`` and similar functions) are left out, because a program does not search for them.
    """
    return [token.value for token in _search_texts(program)]


def with_literal(program: str, old: str, new: str) -> str:
    """The program with every literal *old* (as returned by `literals`) replaced by *new*, quoted for jq."""
    parts: list[str] = []
    end = 0
    for token in _search_texts(program):
        if token.value == old:
            parts += [program[end : token.start], _quoted(new)]
            end = token.start + len(token.text)
    return "".join([*parts, program[end:]])


def field_paths(program: str) -> list[tuple[str, ...]]:
    """The fields that a program names: ``.provenance.confidence``, ``."a"``, and the short keys of ``{id, title}``.

    Fields of the input and fields of objects that the program built are not distinguished.
    """
    code = [t for t in tokens(program) if t.kind not in ("space", "comment")]
    short_keys = _short_keys(code)
    paths: list[tuple[str, ...]] = []
    path = _NO_PATH
    for previous, token, following in zip([None, *code], code, [*code[1:], None], strict=False):
        name = token.text[1:] if token.kind == "field" else None
        if token.kind == "string" and previous is not None and previous.text == ".":
            name = token.value
        if name is not None:
            path = (*path, name)
            end = token.start + len(token.text)
            if following is None or not (following.kind == "field" and following.start == end):
                paths.append(path)
                path = _NO_PATH
        elif token.start in short_keys:
            paths.append((token.text,))
    return paths


def _quoted(text: str) -> str:
    # jq reads surrogate pairs, but no spelling of a lone surrogate is accepted by every version.
    return json.dumps(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _search_texts(program: str) -> list[Token]:
    """The tokens of the strings that `literals` returns."""
    code = [t for t in tokens(program) if t.kind not in ("space", "comment")]
    kept: list[Token] = []
    for i, token in enumerate(code):
        if token.kind != "string":
            continue
        previous = code[i - 1].text if i else ""
        following = code[i + 1].text if i + 1 < len(code) else ""
        is_key = (
            following == ":"
            or previous == "."
            or (previous == "[" and following == "]" and i > 1 and _can_be_indexed(code[i - 2]))
        )
        is_flags = previous == ";" and following == ")" and re.fullmatch("[gimnpslx]*", token.value) is not None
        if not is_key and not is_flags and not previous.startswith("@"):
            kept.append(token)
    return kept


def _can_be_indexed(token: Token) -> bool:
    """True if brackets after this token hold an index or a field name; otherwise they are an array."""
    return token.kind in ("field", "variable", "word") or token.text in (".", "]", ")")


def _tokens(program: str, index: int, end: int) -> Iterator[Token]:
    while index < end:
        if program[index] == '"':
            string_end, value, code = _string(program, index, end)
            yield Token("interpolated" if code else "string", program[index:string_end], index, value)
            for start, stop in code:
                yield from _tokens(program, start, stop)
            index = string_end
            continue
        match = _TOKEN.match(program, index, end)
        assert match is not None  # the last alternative matches any character
        yield Token(match.lastgroup or "other", match.group(), index)
        index = match.end()


def _string(program: str, start: int, end: int) -> tuple[int, str, list[tuple[int, int]]]:
    """The index after a string that starts at *start*, its value, and the positions of the code in it."""
    value: list[str] = []
    code: list[tuple[int, int]] = []
    index = start + 1
    while index < end:
        char = program[index]
        if char == '"':
            return index + 1, "".join(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"), code
        if char != "\\":
            value.append(char)
            index += 1
        elif program.startswith("\\(", index):
            stop = _closing(program, index + 2, end)
            code.append((index + 2, stop))
            index = stop + 1
        elif escape := _UNICODE_ESCAPE.match(program, index, end):
            value.append(chr(int(escape[1], 16)))
            index += 6
        else:
            follows = program[index + 1 : index + 2]
            value.append(_ESCAPES.get(follows, follows))
            index += 2
    raise RecipeSyntaxError("a string in the jq program is not closed")


def _closing(program: str, index: int, end: int) -> int:
    """The index of the parenthesis that closes the code from *index* on."""
    depth = 1
    while index < end:
        if program[index] == '"':
            index = _string(program, index, end)[0]
            continue
        match = _TOKEN.match(program, index, end)
        assert match is not None
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if depth == 0:
            return index
        index = match.end()
    raise RecipeSyntaxError("a string in the jq program is not closed")
