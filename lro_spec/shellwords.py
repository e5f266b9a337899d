"""Reading a shell command without a shell: words, and the pipes between them.

A command of a server under test is hostile input. It is never run; it is read here, by the quoting rules of POSIX, and
everything that would make a shell do more than start programs in a row is refused with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_OPERATORS = {
    ";": "a second command",
    "&": "a background command or a list of commands",
    "<": "a redirection",
    ">": "a redirection",
    "(": "a subshell",
    ")": "a subshell",
    "`": "a command substitution",
    "$": "an expansion",
    "\n": "a second command",
}
# Within double quotes a $ is itself only where no name, brace or parenthesis follows.
_LITERAL_DOLLAR = re.compile(r'\$(?=[\s"|).,;:/\\]|$)')
LONGEST = 65_536
"""How many characters a command may have."""


class RecipeSyntaxError(ValueError):
    """A command is not a plain pipeline of known programs; the message says why."""


@dataclass(slots=True)
class _Word:
    text: list[str] = field(default_factory=list[str])
    bare: list[str] = field(default_factory=list[str])
    """The same with every quoted character as a space: what a shell could still expand."""
    started: bool = False

    def add(self, text: str, *, quoted: bool) -> None:
        self.started = True
        self.text.append(text)
        self.bare.append(" " * len(text) if quoted else text)


def split_pipeline(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of each stage of a pipeline, unquoted.

    A ``< FILE`` of the first stage becomes its last word: every program of a recipe reads its standard input and a file
    that it is told alike.
    Quotes, backslashes and comments work as in POSIX; ``*`` and ``?`` are taken literally, which is what a shell does
    when no file matches. Raises `RecipeSyntaxError` for everything else that a shell gives a meaning.
    """
    if len(command) > LONGEST:
        raise RecipeSyntaxError(f"the command has {len(command)} characters, more than {LONGEST}")
    if "\0" in command:
        raise RecipeSyntaxError("a command cannot hold a NUL")
    text = command.lstrip("\n \t")
    stages: list[list[str]] = [[]]
    word = _Word()
    at = 0
    read: list[str] = []
    to_file = False

    def finish() -> None:
        nonlocal word, to_file
        if word.started:
            (read if to_file else stages[-1]).append(_finished(word))
            word, to_file = _Word(), False

    while at < len(text):
        char = text[at]
        if char == "\\":
            if at + 1 == len(text):
                raise RecipeSyntaxError("the command ends in a backslash")
            if text[at + 1] != "\n":  # a backslash before a newline joins two lines
                word.add(text[at + 1], quoted=True)
            at += 2
        elif char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise RecipeSyntaxError("a single quote is not closed")
            word.add(text[at + 1 : end], quoted=True)
            at = end + 1
        elif char == '"':
            inner, at = _double_quoted(text, at + 1)
            word.add(inner, quoted=True)
        elif char == "$" and text.startswith("'", at + 1):
            inner, at = _dollar_quoted(text, at + 2)
            word.add(inner, quoted=True)
        elif char == "|":
            finish()
            if text.startswith("||", at) or text.startswith("|&", at):
                raise RecipeSyntaxError(f"{text[at : at + 2]} starts a second command or a redirection")
            if to_file:
                raise RecipeSyntaxError("a redirection names no file")
            stages.append([])
            at += 1
        elif char in " \t":
            finish()
            at += 1
        elif char == "#" and not word.started:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif char == "\n" and (
            not text[at:].strip("\n \t") or not (word.started or to_file or stages[-1] or (read and len(stages) == 1))
        ):
            finish()  # the last newline ends the command, one after a pipe or a comment before it continues it
            at += 1
        elif (
            char == "<"
            and len(stages) == 1
            and not (read or to_file)
            and text[at + 1 : at + 2] not in ("<", ">", "&", "(")
            and not "".join(word.bare).isdecimal()  # 2<FILE
        ):
            finish()
            to_file = True
            at += 1
        elif char in _OPERATORS:
            raise RecipeSyntaxError(f"an unquoted {char!r} starts {_OPERATORS[char]}")
        else:
            word.add(char, quoted=False)
            at += 1
    finish()
    if to_file:
        raise RecipeSyntaxError("a redirection names no file")
    if not all(stages):
        raise RecipeSyntaxError("a stage of the pipeline is empty")
    if read and (not read[0] or read[0].startswith("-")):
        raise RecipeSyntaxError(f"a redirection from {read[0]!r}: expected the file's path")
    stages[0] += read
    return tuple(tuple(stage) for stage in stages)


def _double_quoted(text: str, at: int) -> tuple[str, int]:
    """What stands in double quotes that open before *at*, and the place after the closing one."""
    parts: list[str] = []
    while at < len(text):
        char = text[at]
        if char == '"':
            return "".join(parts), at + 1
        if char == "\\" and at + 1 < len(text) and text[at + 1] in '$`"\\\n':
            if text[at + 1] != "\n":
                parts.append(text[at + 1])
            at += 2
            continue
        if char == "`" or (char == "$" and not _LITERAL_DOLLAR.match(text, at)):
            raise RecipeSyntaxError(f"{char!r} in double quotes starts {_OPERATORS[char]}")
        parts.append(char)
        at += 1
    raise RecipeSyntaxError("a double quote is not closed")


def _dollar_quoted(text: str, at: int) -> tuple[str, int]:
    r"""What stands in ``$'…'`` that opens before *at*, and the place after the closing quote; of escapes, ``\n`` and
    its like, quotes and backslashes are read."""
    parts: list[str] = []
    while at < len(text):
        char, after = text[at], text[at + 1 : at + 2]
        if char == "'":
            return "".join(parts), at + 1
        if char == "\\":
            if after not in _ESCAPED:
                raise RecipeSyntaxError(f"the escape \\{after} in $'…' is not understood")
            char = _ESCAPED[after]
            at += 1
        parts.append(char)
        at += 1
    raise RecipeSyntaxError("a single quote is not closed")


_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


def _finished(word: _Word) -> str:
    bare = "".join(word.bare)
    if bare.startswith("~"):
        raise RecipeSyntaxError("an unquoted ~ is expanded to a home folder")
    braces = bare[bare.find("{") : bare.rfind("}") + 1] if "{" in bare else ""
    if "," in braces or ".." in braces:
        raise RecipeSyntaxError("unquoted braces are expanded to several words")
    return "".join(word.text)
