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
# Within double quotes, a $ is literal before these characters and at the end, because no expansion begins there.
_LITERAL_DOLLAR = re.compile(r'\$(?=[\s"|).,;:/\\]|$)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(rf"({_NAME.pattern})=")
_VARIABLE = re.compile(rf"\$(?:({_NAME.pattern})|\{{({_NAME.pattern})\}})")
_SPECIAL_VARIABLES = re.compile(
    r"_|PATH|IFS|HOME|ENV|CDPATH|PWD|OLDPWD|SHELL\w*|POSIXLY_CORRECT|PS[0-4]|E?UID|PPID|S?RANDOM|SECONDS|LINENO|EPOCH\w*"
    r"|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|HIST\w*|OPT\w*|TMPDIR|(?:BASH|COMP|LD_|DYLD_|JQ_|GREP_|AWK|MALLOC)\w*"
)
"""Variables with a meaning of their own. Assigning such a variable has effects beyond its use in the command."""
_MAX_PARTS_OF_NAME = 100
"""A word is searched for the beginning of an assignment in its first parts only, up to this number. The number is
limited because a word may have very many parts, and is searched again for each variable in it."""
_PLAIN_CHARACTERS = re.compile(r"[\w./:=+%@-]+", re.ASCII)
"""Characters without any meaning for a shell."""
_PLAIN_IN_QUOTES = re.compile(r'[^"\\$`]+')
_SPACE = re.compile(r"[ \t\n]+")
_TILDE = re.compile(r"~|.*:~", re.DOTALL)
_BRACKETS = {"{": "}", "(": ")"}
_STAGE_AFTER_READ = ("tail", "-n", "+2")
"""The stage that replaces a single `read` which is followed by a command that reads the rest of the file."""
SUBSTITUTED = "<(…)\0"
"""Placeholder in a stage for a process substitution that is used as a file. No command can contain this text."""
MAX_COMMAND_LENGTH = 65_536
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

    A ``< FILE`` of the first stage becomes its last word, because every program of a recipe reads standard input in the
    same way as a named file. Variables assigned before the pipeline (``FILE=/f; …``) are substituted (``"$FILE"``). The
    stages of ``<(…)`` come before the stage that reads its output, in which ``<(…)`` is replaced by `SUBSTITUTED`. A
    group ``{ read -r _; …; } < FILE`` is replaced by the stage ``tail -n +2 FILE`` and the command after the `read`.
    Quotes, backslashes and comments work as in POSIX. ``*``, ``?`` and ``[`` are literal, as in a shell if no file
    matches. Raises `RecipeSyntaxError` for everything else that has a meaning for a shell, for an empty stage, and for
    a command that is too long.
    """
    if len(command) > MAX_COMMAND_LENGTH:
        raise RecipeSyntaxError(f"the command has {len(command)} characters, more than {MAX_COMMAND_LENGTH}")
    if "\0" in command:
        raise RecipeSyntaxError("a command cannot contain a NUL")
    stages = _Reader(command.lstrip("\n \t")).pipeline()
    return tuple(tuple(stage) for stage in stages)


class _Reader:
    """Reads a command from left to right."""

    def __init__(self, text: str, index: int = 0, values: _Values | None = None, within: str = "") -> None:
        """*within* is ``)`` for the commands of a substitution. It is ``{`` or ``(`` for a command of a group that
        begins with this bracket. Otherwise it is empty."""
        self._text = text
        self.at = index
        self._values = values or _Values()
        self._within = within
        self._stages: list[list[str]] = [[]]
        self._word = _Word()
        self._redirected_files: list[str] = []
        """Files of redirections (``< FILE``)."""
        self._expects_file = False
        """True if the next word is the file of a redirection."""
        self._assigned: list[tuple[str, str]] = []
        """Name and value of each assignment before the program."""
        self._substitution_stages: list[list[str]] = []
        """The stages of a substitution."""
        self._group_stages: list[list[str]] | None = None
        """The stages of a group, after its `read` commands; None if there is no group."""

    def pipeline(self) -> list[list[str]]:
        """The words of the stages from here to the end of the command, of the substitution, or of one command of a
        group."""
        while self.at < len(self._text):
            char = self._text[self.at]
            if self._within and self._is_end(char):
                break
            if not (self._read_quotation(char) or self._read_separator(char) or self._read_structure(char)):
                if char in _OPERATORS:
                    raise RecipeSyntaxError(f"an unquoted {char!r} starts {_OPERATORS[char]}")
                plain = _PLAIN_CHARACTERS.match(self._text, self.at)
                characters = plain[0] if plain is not None else char
                self._word.add(characters, quoted=False)
                self.at += len(characters)
        self._finish_word()
        if self._expects_file:
            raise RecipeSyntaxError("a redirection names no file")
        if not all(self._stages):
            raise RecipeSyntaxError("a stage of the pipeline is empty")
        for file in self._redirected_files:
            if not file or file.startswith("-"):
                raise RecipeSyntaxError(f"a redirection from {file!r}: expected the file's path")
        first, *rest = self._stages
        if self._group_stages is not None and len(first) > len(_STAGE_AFTER_READ):
            raise RecipeSyntaxError(f"{first[-1]!r} after a group of commands is not a redirection")
        return [*self._substitution_stages, first + self._redirected_files, *(self._group_stages or ()), *rest]

    def _is_end(self, char: str) -> bool:
        """True if the substitution, or the command of a group, ends at this point."""
        if char == ")" and self._within != "{":
            return True
        return self._within != ")" and (char in ";\n" or self._starts_with("&&"))

    def _starts_with(self, text: str) -> bool:
        return self._text.startswith(text, self.at)

    def _finish_word(self) -> None:
        if not self._word.started:
            return
        text, words = _text_of(self._word), self._stages[-1]
        name = self._assignment_match()
        if name is not None:
            if _TILDE.match("".join(self._word.bare), name.end()):
                raise RecipeSyntaxError("an unquoted ~ is expanded to a home directory")
            self._assigned.append((name[1], text[name.end() :]))
        (self._redirected_files if self._expects_file else words).append(text)
        self._word, self._expects_file = _Word(), False

    def _assignment_match(self) -> re.Match[str] | None:
        """The name and the equals sign, if the word and all words before it are assignments. Otherwise None."""
        if self._expects_file or len(self._stages) > 1 or len(self._assigned) < len(self._stages[0]):
            return None
        return _ASSIGNMENT.match("".join(self._word.bare[:_MAX_PARTS_OF_NAME]))

    def _read_quotation(self, char: str) -> bool:
        """Read a quotation or an expansion at this point. Returns False if there is none."""
        text, index = self._text, self.at
        if char == "\\":
            if index + 1 == len(text):
                raise RecipeSyntaxError("the command ends in a backslash")
            if text[index + 1] != "\n":  # a backslash before a newline continues the line
                self._word.add(text[index + 1], quoted=True)
            self.at += 2
        elif char == "'":
            end = text.find("'", index + 1)
            if end < 0:
                raise RecipeSyntaxError("a single quote is not closed")
            self._word.add(text[index + 1 : end], quoted=True)
            self.at = end + 1
        elif char == '"':
            inner, self.at = _double_quoted(text, index + 1, self._values)
            self._word.add(inner, quoted=True)
        elif self._starts_with("$'"):
            inner, self.at = _dollar_quoted(text, index + 2)
            self._word.add(inner, quoted=True)
        elif (variable := self._values.value_at(text, index)) is not None:
            self._expand(variable[0])
            self.at = variable[1]
        else:
            return False
        return True

    def _expand(self, value: str) -> None:
        """Add the value of an unquoted variable, which a shell splits at white space except in assignments."""
        if self._expects_file and _SPACE.search(value):
            raise RecipeSyntaxError(
                f"a redirection from {value!r}, which is unquoted: shells differ in how they split it"
            )
        if self._expects_file or self._assignment_match() is not None:
            self._word.add(value, quoted=True)
            return
        for number, part in enumerate(_SPACE.split(value)):
            if number:
                self._finish_word()
            if part:
                self._word.add(part, quoted=True)

    def _read_separator(self, char: str) -> bool:
        """Read a separator of words or stages at this point. Returns False if there is none."""
        text, index, stages = self._text, self.at, self._stages
        if char == "|":
            self._finish_word()
            if self._starts_with("||") or self._starts_with("|&"):
                raise RecipeSyntaxError(f"{text[index : index + 2]} starts a second command or a redirection")
            if self._expects_file:
                raise RecipeSyntaxError("a redirection names no file")
            stages.append([])
            self.at += 1
        elif char in " \t":
            self._finish_word()
            self.at += 1
        elif char == "#" and not self._word.started:
            end = text.find("\n", index)
            self.at = len(text) if end < 0 else end
        elif char == "\n" and (
            not text[index:].strip("\n \t")
            or not (
                self._word.started or self._expects_file or stages[-1] or (self._redirected_files and len(stages) == 1)
            )
        ):
            # The last newline ends the command. A newline before the first word of a stage has no meaning: it follows a
            # pipe, or a comment after a pipe.
            self._finish_word()
            self.at += 1
        else:
            return False
        return True

    def _read_structure(self, char: str) -> bool:
        """Read the end of an assignment, the beginning of a redirection, a substitution, or a group at this point.
        Returns False if there is none of them."""
        if len(self._stages) > 1:
            return False
        if char in ";\n" or self._starts_with("&&"):
            return self._end_assignments()
        if self._starts_with("<("):
            return self._read_substitution()
        if char in _BRACKETS and not (self._within or self._stages[0] or self._word.started or self._redirected_files):
            return self._read_group(char)
        if (
            char == "<"
            and not (self._redirected_files or self._expects_file)
            and self._text[self.at + 1 : self.at + 2] not in ("<", ">", "&")
            and not "".join(self._word.bare).isdecimal()  # 2<FILE
        ):
            self._finish_word()
            self._expects_file = True
            self.at += 1
            return True
        return False

    def _end_assignments(self) -> bool:
        """End the assignments before the pipeline. Returns False if the words before this point are not assignments."""
        if not self._expects_file:
            self._finish_word()
        words = self._stages[0]
        if (
            not words
            or len(self._assigned) != len(words)
            or self._redirected_files
            or self._expects_file
            or self._within
        ):
            return False
        for name, value in self._assigned:
            if _SPECIAL_VARIABLES.fullmatch(name):
                raise RecipeSyntaxError(f"{name} has a meaning for the shell or for programs")
            self._values.by_name[name] = value
        self._stages, self._assigned = [[]], []
        self.at += 2 if self._starts_with("&&") else 1
        self.at = _after_space(self._text, self.at)
        return True

    def _read_substitution(self) -> bool:
        """Read a process substitution. Returns False if this point is no place for one."""
        if self._word.started or self._within or self._substitution_stages or self._group_stages is not None:
            return False
        inner = _Reader(self._text, self.at + 2, self._values, ")")
        self._substitution_stages = inner.pipeline()
        if not self._text.startswith(")", inner.at):
            raise RecipeSyntaxError("a process substitution is not closed")
        self.at = inner.at + 1
        self._word.add(SUBSTITUTED, quoted=True)
        self._finish_word()
        return True

    def _read_group(self, bracket: str) -> bool:
        """Read a group of commands that begins with `read`. Returns False if there is no such group."""
        if bracket == "{" and self._text[self.at + 1 : self.at + 2] not in (" ", "\t", "\n"):
            return False
        closing, index, reads = _BRACKETS[bracket], self.at + 1, 0
        while True:
            command_reader = _Reader(self._text, _after_space(self._text, index), self._values, bracket)
            stages = command_reader.pipeline()
            index = command_reader.at
            if self._text.startswith("&&", index):
                index += 2
            elif self._text[index : index + 1] in (";", "\n"):
                index = _after_space(self._text, index + 1)
                if self._text.startswith(closing, index):
                    break
            elif self._text.startswith(closing, index) and bracket == "(":
                break
            else:
                raise RecipeSyntaxError("a group of commands is not closed")
            if len(stages) != 1 or not _is_read(stages[0]):
                raise RecipeSyntaxError("in a group of commands, all but the last must be read -r NAME")
            reads += 1
        if not reads:
            return False
        self.at = index + 1
        self._group_stages = stages
        self._stages[0] += [*_STAGE_AFTER_READ[:-1], f"+{reads + 1}"]
        return True


def _after_space(text: str, index: int) -> int:
    space = _SPACE.match(text, index)
    return index if space is None else space.end()


def file_of(words: Sequence[str], file: str | None) -> str | None:
    """Return the file that a stage reads, or None if it reads the pipe or a process substitution.

    *words* are the words after the program of the stage. *file* is the word that names a file, or None if no word does.
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
        self.by_name: dict[str, str] = {}
        self._spare_characters = MAX_COMMAND_LENGTH

    def value_at(self, text: str, index: int) -> tuple[str, int] | None:
        """Return the value of the variable at this point, and the index after it. None if no assigned variable is
        there."""
        match = _VARIABLE.match(text, index)
        value = None if match is None else self.by_name.get(match[1] or match[2])
        if match is None or value is None:
            return None
        self._spare_characters -= len(value)
        if self._spare_characters < 0:
            raise RecipeSyntaxError(f"the expanded command has more than {MAX_COMMAND_LENGTH} characters")
        return value, match.end()


def _double_quoted(text: str, index: int, values: _Values) -> tuple[str, int]:
    """Return the content of double quotes, and the index after the closing quote. *index* is the index after the
    opening quote."""
    parts: list[str] = []
    while index < len(text):
        char = text[index]
        if char == '"':
            return "".join(parts), index + 1
        if char == "\\" and index + 1 < len(text) and text[index + 1] in '$`"\\\n':
            if text[index + 1] != "\n":
                parts.append(text[index + 1])
            index += 2
            continue
        if (variable := values.value_at(text, index)) is not None:
            parts.append(variable[0])
            index = variable[1]
            continue
        if char == "`" or (char == "$" and not _LITERAL_DOLLAR.match(text, index)):
            raise RecipeSyntaxError(f"{char!r} in double quotes starts {_OPERATORS[char]}")
        plain = _PLAIN_IN_QUOTES.match(text, index)
        characters = plain[0] if plain is not None else char
        parts.append(characters)
        index += len(characters)
    raise RecipeSyntaxError("a double quote is not closed")


def _dollar_quoted(text: str, index: int) -> tuple[str, int]:
    r"""Return the content of ``$'…'``, and the index after the closing quote.

    *index* is the index after the opening quote. Supported escapes are ``\n`` and similar, quotes and backslashes.
    """
    parts: list[str] = []
    while index < len(text):
        char, after = text[index], text[index + 1 : index + 2]
        if char == "'":
            return "".join(parts), index + 1
        if char == "\\":
            if after not in _ESCAPED:
                raise RecipeSyntaxError(f"the escape \\{after} in $'…' is not understood")
            char = _ESCAPED[after]
            index += 1
        parts.append(char)
        index += 1
    raise RecipeSyntaxError("a single quote is not closed")


_ESCAPED = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}


def _text_of(word: _Word) -> str:
    """The text of a word. Raises `RecipeSyntaxError` if a shell would expand it."""
    bare = "".join(word.bare)
    if bare.startswith("~"):
        raise RecipeSyntaxError("an unquoted ~ is expanded to a home directory")
    braces = bare[bare.find("{") : bare.rfind("}") + 1] if "{" in bare else ""
    if "," in braces or ".." in braces:
        raise RecipeSyntaxError("unquoted braces are expanded to several words")
    return "".join(word.text)
