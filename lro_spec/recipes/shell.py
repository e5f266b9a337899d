"""Parser of shell commands, without a shell: words, and the pipes between them.

A command of a server under test is hostile input. It is never run, but parsed by the quoting rules of POSIX. Anything
that would make a shell do more than start the programs of one pipeline is refused with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
# Within double quotes, a $ is literal before these characters and at the end, where it begins no expansion.
_LITERAL_DOLLAR = re.compile(r'\$(?=[\s"|).,;:/\\]|$)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(rf"({_NAME.pattern})=")
_VARIABLE = re.compile(rf"\$(?:({_NAME.pattern})|\{{({_NAME.pattern})\}})")
_SPECIAL_VARIABLES = re.compile(
    r"_|PATH|IFS|HOME|ENV|CDPATH|PWD|OLDPWD|SHELL\w*|POSIXLY_CORRECT|PS[0-4]|E?UID|PPID|S?RANDOM|SECONDS|LINENO|EPOCH\w*"
    r"|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|HIST\w*|OPT\w*|TMPDIR|(?:BASH|COMP|LD_|DYLD_|JQ_|GREP_|AWK|MALLOC)\w*"
)
"""Variables with a meaning of their own: setting them has effects beyond their use in the command."""
_PARTS_OF_NAME = 100
"""The beginning of an assignment is looked for in this many parts of a word. A word may have very many parts, and is
examined again for each variable in it."""
_PLAIN = re.compile(r"[\w./:=+%@-]+", re.ASCII)
"""Characters without any meaning for a shell."""
_PLAIN_IN_QUOTES = re.compile(r'[^"\\$`]+')
_SPACE = re.compile(r"[ \t\n]+")
_TILDE = re.compile(r"~|.*:~", re.DOTALL)
_BRACKETS = {"{": "}", "(": ")"}
_AFTER_READ = ("tail", "-n", "+2")
"""The stage that stands for one `read` before a command that reads the rest of the file."""
SUBSTITUTED = "<(…)\0"
"""Placeholder in a stage for a process substitution that is used as a file; no command can contain it."""
LONGEST = 65_536
"""Largest number of characters of a command."""


class RecipeSyntaxError(ValueError):
    """A command is not a plain pipeline of known programs; the message says why."""


@dataclass(slots=True)
class _Word:
    """A word, or the beginning of one."""

    text: list[str] = field(default_factory=list[str])
    bare: list[str] = field(default_factory=list[str])
    """The text with every quoted character replaced by a space: the part that a shell could still expand."""
    started: bool = False

    def add(self, text: str, *, quoted: bool) -> None:
        self.started = True
        self.text.append(text)
        self.bare.append(" " * len(text) if quoted else text)


def split_pipeline(command: str) -> tuple[tuple[str, ...], ...]:
    """The words of each stage of a pipeline, unquoted.

    A ``< FILE`` of the first stage becomes its last word, because every program of a recipe reads standard input and a
    named file alike. Variables assigned before the pipeline (``FILE=/f; …``) are substituted (``"$FILE"``). The stages
    of ``<(…)`` come before the stage that reads it, in which `SUBSTITUTED` stands for ``<(…)``. Instead of ``{ read -r
    _; …; } < FILE``, there are ``tail -n +2 FILE`` and the command after the `read`. Quotes, backslashes and comments
    work as in POSIX; ``*``, ``?`` and ``[`` are literal, as in a shell if no file matches. Raises `RecipeSyntaxError`
    for everything else that has a meaning for a shell, for an empty stage, and for a command that is too long.
    """
    if len(command) > LONGEST:
        raise RecipeSyntaxError(f"the command has {len(command)} characters, more than {LONGEST}")
    if "\0" in command:
        raise RecipeSyntaxError("a command cannot contain a NUL")
    stages = _Reader(command.lstrip("\n \t")).pipeline()
    return tuple(tuple(stage) for stage in stages)


class _Reader:
    """Reads a command from left to right."""

    def __init__(self, text: str, at: int = 0, values: _Values | None = None, within: str = "") -> None:
        """*within* is ``)`` for the commands of a substitution, ``{`` or ``(`` for a command of such a group, and
        otherwise empty."""
        self._text = text
        self.at = at
        self._values = values or _Values()
        self._within = within
        self._stages: list[list[str]] = [[]]
        self._word = _Word()
        self._redirected: list[str] = []
        """Files of redirections (``< FILE``)."""
        self._to_file = False
        """True if the next word is the file of a redirection."""
        self._assigned: list[tuple[str, str]] = []
        """Name and value of each assignment before the program."""
        self._before: list[list[str]] = []
        """The stages of a substitution."""
        self._grouped: list[list[str]] | None = None
        """The stages of a group, after its `read` commands; None if there is no group."""

    def pipeline(self) -> list[list[str]]:
        """The words of the stages from here to the end of the command, of the substitution, or of one command of a
        group."""
        while self.at < len(self._text):
            char = self._text[self.at]
            if self._within and self._ends(char):
                break
            if not (self._quoted(char) or self._between(char) or self._beyond_words(char)):
                if char in _OPERATORS:
                    raise RecipeSyntaxError(f"an unquoted {char!r} starts {_OPERATORS[char]}")
                plain = _PLAIN.match(self._text, self.at)
                run = plain[0] if plain is not None else char
                self._word.add(run, quoted=False)
                self.at += len(run)
        self._finish()
        if self._to_file:
            raise RecipeSyntaxError("a redirection names no file")
        if not all(self._stages):
            raise RecipeSyntaxError("a stage of the pipeline is empty")
        for file in self._redirected:
            if not file or file.startswith("-"):
                raise RecipeSyntaxError(f"a redirection from {file!r}: expected the file's path")
        first, *rest = self._stages
        if self._grouped is not None and len(first) > len(_AFTER_READ):
            raise RecipeSyntaxError(f"{first[-1]!r} after a group of commands is not a redirection")
        return [*self._before, first + self._redirected, *(self._grouped or ()), *rest]

    def _ends(self, char: str) -> bool:
        """True if the substitution, or the command of a group, ends at this point."""
        if char == ")" and self._within != "{":
            return True
        return self._within != ")" and (char in ";\n" or self._has("&&"))

    def _has(self, text: str) -> bool:
        return self._text.startswith(text, self.at)

    def _finish(self) -> None:
        if not self._word.started:
            return
        text, words = _finished(self._word), self._stages[-1]
        name = self._assigns()
        if name is not None:
            if _TILDE.match("".join(self._word.bare), name.end()):
                raise RecipeSyntaxError("an unquoted ~ is expanded to a home directory")
            self._assigned.append((name[1], text[name.end() :]))
        (self._redirected if self._to_file else words).append(text)
        self._word, self._to_file = _Word(), False

    def _assigns(self) -> re.Match[str] | None:
        """The name and the equals sign if the word is an assignment, as are all words before it; otherwise None."""
        if self._to_file or len(self._stages) > 1 or len(self._assigned) < len(self._stages[0]):
            return None
        return _ASSIGNMENT.match("".join(self._word.bare[:_PARTS_OF_NAME]))

    def _quoted(self, char: str) -> bool:
        """Read a quotation or an expansion at this point; False if there is none."""
        text, at = self._text, self.at
        if char == "\\":
            if at + 1 == len(text):
                raise RecipeSyntaxError("the command ends in a backslash")
            if text[at + 1] != "\n":  # a backslash before a newline continues the line
                self._word.add(text[at + 1], quoted=True)
            self.at += 2
        elif char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise RecipeSyntaxError("a single quote is not closed")
            self._word.add(text[at + 1 : end], quoted=True)
            self.at = end + 1
        elif char == '"':
            inner, self.at = _double_quoted(text, at + 1, self._values)
            self._word.add(inner, quoted=True)
        elif self._has("$'"):
            inner, self.at = _dollar_quoted(text, at + 2)
            self._word.add(inner, quoted=True)
        elif (found := self._values.at(text, at)) is not None:
            self._expand(found[0])
            self.at = found[1]
        else:
            return False
        return True

    def _expand(self, value: str) -> None:
        """Add the value of an unquoted variable, which a shell splits at white space except in assignments."""
        if self._to_file and _SPACE.search(value):
            raise RecipeSyntaxError(
                f"a redirection from {value!r}, which is unquoted: shells differ in how they split it"
            )
        if self._to_file or self._assigns() is not None:
            self._word.add(value, quoted=True)
            return
        for number, part in enumerate(_SPACE.split(value)):
            if number:
                self._finish()
            if part:
                self._word.add(part, quoted=True)

    def _between(self, char: str) -> bool:
        """Read a separator of words or stages at this point; False if there is none."""
        text, at, stages = self._text, self.at, self._stages
        if char == "|":
            self._finish()
            if self._has("||") or self._has("|&"):
                raise RecipeSyntaxError(f"{text[at : at + 2]} starts a second command or a redirection")
            if self._to_file:
                raise RecipeSyntaxError("a redirection names no file")
            stages.append([])
            self.at += 1
        elif char in " \t":
            self._finish()
            self.at += 1
        elif char == "#" and not self._word.started:
            end = text.find("\n", at)
            self.at = len(text) if end < 0 else end
        elif char == "\n" and (
            not text[at:].strip("\n \t")
            or not (self._word.started or self._to_file or stages[-1] or (self._redirected and len(stages) == 1))
        ):
            # The last newline ends the command. A newline before the first word of a stage means nothing: it follows a
            # pipe, or a comment in that place.
            self._finish()
            self.at += 1
        else:
            return False
        return True

    def _beyond_words(self, char: str) -> bool:
        """Read what is at this point if it ends an assignment, begins a redirection, or is a substitution or a group;
        otherwise False."""
        if len(self._stages) > 1:
            return False
        if char in ";\n" or self._has("&&"):
            return self._assign()
        if self._has("<("):
            return self._substitute()
        if char in _BRACKETS and not (self._within or self._stages[0] or self._word.started or self._redirected):
            return self._group(char)
        if (
            char == "<"
            and not (self._redirected or self._to_file)
            and self._text[self.at + 1 : self.at + 2] not in ("<", ">", "&")
            and not "".join(self._word.bare).isdecimal()  # 2<FILE
        ):
            self._finish()
            self._to_file = True
            self.at += 1
            return True
        return False

    def _assign(self) -> bool:
        """End the assignments before the pipeline; False if the words before this point are not assignments."""
        if not self._to_file:
            self._finish()
        words = self._stages[0]
        if not words or len(self._assigned) != len(words) or self._redirected or self._to_file or self._within:
            return False
        for name, value in self._assigned:
            if _SPECIAL_VARIABLES.fullmatch(name):
                raise RecipeSyntaxError(f"{name} has a meaning for the shell or for programs")
            self._values.known[name] = value
        self._stages, self._assigned = [[]], []
        self.at += 2 if self._has("&&") else 1
        self.at = _after_space(self._text, self.at)
        return True

    def _substitute(self) -> bool:
        """Read a process substitution; False if one cannot be here."""
        if self._word.started or self._within or self._before or self._grouped is not None:
            return False
        inner = _Reader(self._text, self.at + 2, self._values, ")")
        self._before = inner.pipeline()
        if not self._text.startswith(")", inner.at):
            raise RecipeSyntaxError("a process substitution is not closed")
        self.at = inner.at + 1
        self._word.add(SUBSTITUTED, quoted=True)
        self._finish()
        return True

    def _group(self, bracket: str) -> bool:
        """Read a group of commands that begins with `read`; False if this is none."""
        if bracket == "{" and self._text[self.at + 1 : self.at + 2] not in (" ", "\t", "\n"):
            return False
        closing, at, reads = _BRACKETS[bracket], self.at + 1, 0
        while True:
            one = _Reader(self._text, _after_space(self._text, at), self._values, bracket)
            stages = one.pipeline()
            at = one.at
            if self._text.startswith("&&", at):
                at += 2
            elif self._text[at : at + 1] in (";", "\n"):
                at = _after_space(self._text, at + 1)
                if self._text.startswith(closing, at):
                    break
            elif self._text.startswith(closing, at) and bracket == "(":
                break
            else:
                raise RecipeSyntaxError("a group of commands is not closed")
            if len(stages) != 1 or not _is_read(stages[0]):
                raise RecipeSyntaxError("in a group of commands, all but the last must be read -r NAME")
            reads += 1
        if not reads:
            return False
        self.at = at + 1
        self._grouped = stages
        self._stages[0] += [*_AFTER_READ[:-1], f"+{reads + 1}"]
        return True


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def file_of(words: Sequence[str], file: str | None) -> str | None:
    """The file that a stage reads; None if it reads the pipe or a process substitution.

    *words* are the words after its program, and *file* is the one that names a file; None if there is none.
    Raises `RecipeSyntaxError` if a process substitution is used as anything but the file.
    """
    if SUBSTITUTED not in words:
        return file
    if file != SUBSTITUTED:
        raise RecipeSyntaxError("a process substitution is not used as the file to read")
    return None


def _is_read(words: list[str]) -> bool:
    program, *rest = words[1:] if words[0] == "IFS=" and len(words) > 1 else words
    names = rest[1:] if rest[:1] == ["-r"] else rest
    return program == "read" and all(_NAME.fullmatch(name) for name in names)


class _Values:
    """Variables assigned in the command."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self._left = LONGEST

    def at(self, text: str, at: int) -> tuple[str, int] | None:
        """Value of the variable at this point, and the index after it; None if the variable was not assigned."""
        found = _VARIABLE.match(text, at)
        value = None if found is None else self.known.get(found[1] or found[2])
        if found is None or value is None:
            return None
        self._left -= len(value)
        if self._left < 0:
            raise RecipeSyntaxError(f"the expanded command has more than {LONGEST} characters")
        return value, found.end()


def _double_quoted(text: str, at: int, values: _Values) -> tuple[str, int]:
    """Content of double quotes from *at* on, after the opening quote, and the index after the closing quote."""
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
        if (found := values.at(text, at)) is not None:
            parts.append(found[0])
            at = found[1]
            continue
        if char == "`" or (char == "$" and not _LITERAL_DOLLAR.match(text, at)):
            raise RecipeSyntaxError(f"{char!r} in double quotes starts {_OPERATORS[char]}")
        plain = _PLAIN_IN_QUOTES.match(text, at)
        run = plain[0] if plain is not None else char
        parts.append(run)
        at += len(run)
    raise RecipeSyntaxError("a double quote is not closed")


def _dollar_quoted(text: str, at: int) -> tuple[str, int]:
    r"""Content of ``$'…'`` from *at* on, after the opening quote, and the index after the closing quote.

    Supported escapes are ``\n`` and similar, quotes and backslashes.
    """
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
    """The text of a word. Raises `RecipeSyntaxError` if a shell would expand it."""
    bare = "".join(word.bare)
    if bare.startswith("~"):
        raise RecipeSyntaxError("an unquoted ~ is expanded to a home directory")
    braces = bare[bare.find("{") : bare.rfind("}") + 1] if "{" in bare else ""
    if "," in braces or ".." in braces:
        raise RecipeSyntaxError("unquoted braces are expanded to several words")
    return "".join(word.text)
