"""Parser of recipe commands: which file is read, from which line, through which jq program.

It understands ``tail -n +2 FILE | jq …`` and its usual variants: ``sed 1d FILE | jq …``, ``cat FILE | jq …``, ``head -n
1 FILE | jq …``, ``jq … FILE`` (also with ``-n`` and ``inputs``), several jq calls in a row, the filters of awk, grep
and sed in `lro_spec.recipes.filters`, and the variables, substitutions and groups of commands in
`lro_spec.recipes.shell`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NoReturn

from lro_spec.recipes.filters import NotInterpretedError, awk_exclusion, awk_lines, grep_exclusion, sed_exclusion
from lro_spec.recipes.lexer import refuse_other_inputs
from lro_spec.recipes.shell import MAX_COMMAND_LENGTH, SUBSTITUTED, RecipeSyntaxError, file_of, split_pipeline

_FLAGS = {
    "r": "raw-output", "j": "join-output", "s": "slurp", "n": "null-input", "c": "compact-output", "S": "sort-keys",
    "M": "monochrome-output", "C": "color-output", "a": "ascii-output", "e": "exit-status",
    "R": "raw-input",
}  # fmt: skip
_ALLOWED_OPTIONS = {*_FLAGS.values(), "tab", "unbuffered"}
_REFUSED_OPTIONS = {
    "f": "reads its program from a file", "from-file": "reads its program from a file",
    "L": "loads modules from a folder", "library-path": "loads modules from a folder",
    "slurpfile": "reads another file", "rawfile": "reads another file", "argfile": "reads another file",
}  # fmt: skip
_UNINTERPRETED_OPTIONS = {"raw-input", "args", "jsonargs", "stream", "stream-errors", "seq", "raw-output0"}
"""Options that change a program's input or the way its outputs are separated. They are harmless, but they are not
interpreted here."""


@dataclass(frozen=True, slots=True)
class JqCall:
    """One call of jq: its program, and the options that matter for its output. Options for the layout of the output are
    left out, and so is ``-e``, which only changes the exit status."""

    program: str
    slurp: bool = False
    """-s: all inputs as one array."""
    raw: bool = False
    """-r: strings without quotes."""
    null_input: bool = False
    """-n: the program reads its input by ``input`` and ``inputs``."""
    join: bool = False
    """-j: like -r, and without newlines between the outputs."""
    args: Mapping[str, str] = field(default_factory=dict[str, str])
    """--arg: variables that are strings."""
    argjson: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """--argjson: variables that are any JSON value."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A parsed command of a recipe."""

    path: str
    """The path of the file that the command reads, as it is written in the command."""
    skip: int
    """Number of lines of the file that are skipped before jq."""
    jq: JqCall
    stages: tuple[tuple[str, ...], ...]
    """The words of each stage, as `lro_spec.recipes.shell.split_pipeline` reads them."""
    take: int | None = None
    """Number of lines that are read after the skipped lines; None means all."""
    more: tuple[JqCall, ...] = ()
    """Further jq calls. Each of them reads the output of the previous call."""
    last: int | None = None
    """Number of lines that are read from the end; None means all. A command may have ``tail -n 2`` by mistake, where
    ``tail -n +2`` was meant."""
    is_last_after: bool = False
    """True if `last` is applied to the lines that remain after `skip` and `take`. False if `skip` and `take` are
    applied to the last lines."""
    without: str | None = None
    """Lines of the file that contain this text are left out before lines are counted. None if no line is left out."""


@lru_cache(maxsize=8192)  # a run has fewer commands, and parses each of them several times
def parse_command(command: str) -> Pipeline:
    """Parse a recipe's command. Raises `RecipeSyntaxError` with the reason why it is not a plain pipeline.

    Nothing is run. Variables that the command itself assigns, input from a file (``<``), process substitutions and
    groups are understood as `lro_spec.recipes.shell.split_pipeline` describes. Anything else that a shell would expand,
    redirect or start in addition is refused, and so are jq programs that read more than their input (the environment,
    modules, other files). Raises `NotInterpretedError`, a subclass of `RecipeSyntaxError`, if the only problem is
    something that is not interpreted here: a program of awk, options or a pattern of grep, a second filter of lines by
    text, or an option of jq such as -R. Such a command may be correct.
    """
    path_match = _PLAIN_PATH.search(command)
    if (
        path_match is not None
        and command.count(path_match[0]) == 1
        and len(command) <= MAX_COMMAND_LENGTH
        and _ANY_FILE not in command
    ):
        parsed = _parse_for_any_file(command.replace(path_match[0], _ANY_FILE))
        if parsed is not None:
            stages = tuple(tuple(word.replace(_ANY_FILE, path_match[0]) for word in words) for words in parsed.stages)
            return replace(parsed, path=path_match[0], stages=stages)
    return _parse(command)


_ANY_FILE = "/lro-recipe-of-any-file.jsonl"
"""This path replaces the path in a command, so that commands that differ only in their path are parsed once."""
_PLAIN_PATH = re.compile(r"(?<![^\s'\"])/[\w./-]+\.jsonl(?![^\s'\"|])", re.ASCII)
"""A path that a shell reads as it is written, with or without quotes."""


@lru_cache(maxsize=1024)  # descriptors of a server have the same commands, each with the path of its own file
def _parse_for_any_file(command: str) -> Pipeline | None:
    """Return the pipeline of a command that reads `_ANY_FILE`. Returns None if the command cannot be parsed, or if the
    path also occurs elsewhere in it."""
    try:
        pipeline = _parse(command)
    except RecipeSyntaxError:  # the message may quote the path, so the caller parses the original command
        return None
    has_other_use = _ANY_FILE in repr((pipeline.jq, pipeline.more, pipeline.without))
    return pipeline if pipeline.path == _ANY_FILE and not has_other_use else None


def _parse(command: str) -> Pipeline:
    stages = split_pipeline(command)
    lines = _Lines()
    calls: list[JqCall] = []
    not_interpreted: NotInterpretedError | None = None
    has_jq = False
    for number, words in enumerate(stages):
        program, *rest = _program_and_arguments(words, first=not number)
        if program == "jq":
            has_jq = True
            try:
                call, file = _jq(rest)
                calls.append(call)
            except NotInterpretedError as problem:
                file, not_interpreted = None, problem
        elif program in _FILTERS:
            if has_jq:
                raise RecipeSyntaxError(f"{program} after jq works on the layout of the output, not on its values")
            try:
                file = _FILTERS[program](rest, lines)
            except NotInterpretedError as problem:
                file, not_interpreted = None, problem
        else:
            raise RecipeSyntaxError(f"{program!r} is not a program that recipes use ({UNDERSTOOD_PROGRAMS})")
        file = file if file is None and not_interpreted is not None else file_of(rest, file)
        if number and file is not None:
            raise RecipeSyntaxError(f"{program} reads {file!r} instead of the pipe")
        if file is not None:
            lines.path = file
    if not has_jq:
        raise RecipeSyntaxError("the pipeline has no jq")
    if not_interpreted is not None:
        raise not_interpreted
    if lines.path is None:
        raise RecipeSyntaxError("the pipeline names no file")
    return Pipeline(
        lines.path,
        lines.skip,
        calls[0],
        stages,
        lines.take,
        tuple(calls[1:]),
        lines.last,
        lines.is_last_after,
        lines.without,
    )


def _program_and_arguments(words: tuple[str, ...], *, first: bool) -> tuple[str, ...]:
    """The words of a stage without the program's directory and, in the *first* stage, without assignments of the locale
    before the program."""
    index = 0
    while first and index < len(words) - 1 and _LOCALE.fullmatch(words[index]):
        index += 1
    return (_FOLDER.sub("", words[index]), *words[index + 1 :])


_LOCALE = re.compile(r"(?:LANG|LC_[A-Z]+)=[\w.@-]*")
_FOLDER = re.compile(r"^(?:/usr|/usr/local|/opt/homebrew)?/bin/")


def one_stage(program: str, words: list[str]) -> str | None:
    """Return the file that a single stage reads, or None if it reads the pipe. Raises `RecipeSyntaxError` if the stage
    is not understood."""
    if program == "jq":
        return _jq(words)[1]
    if program not in _FILTERS:
        raise RecipeSyntaxError(f"{program!r} is not a program that recipes use")
    return _FILTERS[program](words, _Lines())


@dataclass(slots=True)
class _Lines:
    """The lines that reach jq according to the stages read so far; the fields are those of `Pipeline`."""

    path: str | None = None
    skip: int = 0
    take: int | None = None
    last: int | None = None
    is_last_after: bool = False
    without: str | None = None

    def drop(self, count: int) -> None:
        self._require_order()
        self.skip += count
        if self.take is not None:
            self.take = max(0, self.take - count)

    def keep(self, count: int) -> None:
        self._require_order()
        self.take = count if self.take is None else min(self.take, count)

    def keep_last(self, count: int) -> None:
        is_after = self.skip > 0 or self.take is not None
        if self.last is None:
            self.last, self.is_last_after = count, is_after
        elif self.is_last_after is is_after:
            self.last = min(self.last, count)
        else:
            self._refuse_order()

    def _require_order(self) -> None:
        if self.is_last_after:
            self._refuse_order()

    def _refuse_order(self) -> NoReturn:
        raise NotInterpretedError("tail -n is understood only before or after all other selections by line number")

    def leave_out(self, program: str, text: str) -> None:
        if self != _Lines(self.path):
            raise NotInterpretedError(
                f"{program} with a search text is understood only once, as the first filter of lines"
            )
        self.without = text


def _cat(words: list[str], lines: _Lines) -> str | None:
    options = [w for w in words if w.startswith("-") and w not in ("-", "--", "-u")]
    if options:
        raise RecipeSyntaxError(f"cat {options[0]}: not understood")
    return _one_file("cat", [w for w in words if w not in ("--", "-u")])


def _tail(words: list[str], lines: _Lines) -> str | None:
    count, files = _line_count("tail", words, r"\+?[0-9]{1,15}")
    if count is None or not count.startswith("+"):
        lines.keep_last(10 if count is None else int(count))
    else:
        lines.drop(max(0, int(count) - 1))
    return _one_file("tail", files)


def _head(words: list[str], lines: _Lines) -> str | None:
    count, files = _line_count("head", words, r"[0-9]{1,15}")
    lines.keep(10 if count is None else int(count))
    return _one_file("head", files)


def _line_count(program: str, words: list[str], number: str) -> tuple[str | None, list[str]]:
    """The value of -n in any of its spellings, and the words that are not options. *number* is the pattern of the
    value."""
    count: str | None = None
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        short = re.fullmatch(rf"(?:-n|--lines=|{'-' if program == 'head' else ''})({number})", word)
        if word in ("-n", "--lines"):
            count = next(rest, "")
            if not re.fullmatch(number, count):
                break
        elif short and (word.startswith("-") or not files):
            count = short[1]
        elif word == "--":
            files.extend(rest)
        elif word.startswith("-") and word not in ("-q", "-", "--quiet", "--silent"):
            raise RecipeSyntaxError(f"{program} {word}: not understood")
        elif not word.startswith("-"):
            files.append(word)
    if count is not None and not re.fullmatch(number, count):
        raise RecipeSyntaxError(f"{program} -n {count}: not understood")
    return count, files


def _sed(words: list[str], lines: _Lines) -> str | None:
    quiet = False
    script: str | None = None
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in ("-n", "--quiet", "--silent"):
            quiet = True
        elif word in ("-e", "--expression"):
            script = next(rest, "")
        elif word == "--":
            files.extend(rest)
        elif word.startswith("-") and word != "-":
            raise RecipeSyntaxError(f"sed {word}: not understood")
        elif script is None:
            script = word
        else:
            files.append(word)
    text = None if quiet else sed_exclusion(script or "")
    if text is not None:
        lines.leave_out("sed", text)
        return _one_file("sed", files)
    script = (script or "").replace(" ", "")
    if not quiet and (dropped := re.fullmatch(r"1(?:,([0-9]{1,15}))?d", script)):
        lines.drop(max(1, int(dropped[1] or 1)))  # sed deletes line 1 in any case
    elif quiet and (kept := re.fullmatch(r"([0-9]{1,15}),\$p", script)):
        lines.drop(max(0, int(kept[1]) - 1))
    elif quiet and (kept := re.fullmatch(r"([1-9][0-9]{0,14})(?:,([0-9]{1,15}))?p", script)):
        lines.drop(int(kept[1]) - 1)
        lines.keep(max(1, int(kept[2] or kept[1]) - int(kept[1]) + 1))
    else:
        raise RecipeSyntaxError(f"sed {script!r}: expected a script that deletes the first lines (1d)")
    return _one_file("sed", files)


def _awk(words: list[str], lines: _Lines) -> str | None:
    exclusion = awk_exclusion(words)
    if exclusion is not None:
        lines.leave_out("awk", exclusion[0])
        return _one_file("awk", exclusion[1])
    kept, count, files = awk_lines(words)
    if kept:
        lines.keep(count)
    else:
        lines.drop(count)
    return _one_file("awk", files)


def _grep(words: list[str], lines: _Lines) -> str | None:
    text, files = grep_exclusion(words)
    lines.leave_out("grep", text)
    return _one_file("grep", files)


_FILTERS = {"cat": _cat, "tail": _tail, "head": _head, "sed": _sed, "awk": _awk, "grep": _grep}
UNDERSTOOD_PROGRAMS = "jq, tail, sed, cat, head, awk 'NR > 1', grep -v of a plain text"
"""Programs that recipes may use, for messages."""


def _one_file(program: str, files: list[str]) -> str | None:
    if len(files) > 1:
        raise RecipeSyntaxError(f"{program} reads {len(files)} files: {', '.join(map(repr, files[:3]))}")
    return files[0] if files and files[0] != "-" else None


def _jq(words: list[str]) -> tuple[JqCall, str | None]:
    options: set[str] = set()
    args: dict[str, str] = {}
    argjson: dict[str, Any] = {}
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            operands.extend(rest)
        elif word in ("--arg", "--argjson"):
            name, value = next(rest, None), next(rest, None)
            if name is None or value is None:
                raise RecipeSyntaxError(f"jq {word} needs a name and a value")
            if word == "--arg":
                args[name] = value
            else:
                argjson[name] = _json(name, value)
        elif word == "--indent":
            if not (next(rest, "")).isdecimal():
                raise RecipeSyntaxError("jq --indent needs a number")
        elif word.startswith("--"):
            options.add(_option(word[2:]))
        elif word.startswith("-") and word != "-":
            options.update(_option(_FLAGS.get(letter, letter)) for letter in word[1:])
        else:
            operands.append(word)
    if not operands:
        raise RecipeSyntaxError("jq has no program")
    program, *files = operands
    refuse_other_inputs(program)
    if uninterpreted := sorted(options & _UNINTERPRETED_OPTIONS):
        raise NotInterpretedError(f"jq --{uninterpreted[0]} is an option that is not interpreted")
    join = "join-output" in options
    call = JqCall(
        program,
        slurp="slurp" in options,
        raw=join or "raw-output" in options,
        null_input="null-input" in options,
        join=join,
        args=args,
        argjson=argjson,
    )
    return call, _one_file("jq", files)


def _option(name: str) -> str:
    if name in _ALLOWED_OPTIONS or name in _UNINTERPRETED_OPTIONS:
        return name
    dashes = "-" if len(name) == 1 else "--"
    raise RecipeSyntaxError(f"jq {dashes}{name} {_REFUSED_OPTIONS.get(name, 'is not an option that recipes use')}")


def _json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RecipeSyntaxError(f"jq --argjson {name}: {text!r} is not JSON") from None


_OPTIONS = {
    "sort": "bdfghiknrstuV",
    "uniq": "cdiu", "wc": "clmwL", "cut": "bcdfs", "tr": "cds", "grep": "EFchinovwx", "nl": "b",
}  # fmt: skip
"""For grep and each program that is only understood by `file_read`: the options that name no file and start no program.
``sort -o``, for example, would write a file."""
_WORDS_BEFORE_FILE = {"tr": 2, "grep": 1}
"""For each program: the number of arguments before the file, such as the pattern of grep."""
_VALUE = re.compile(r"[0-9][0-9,.a-z]*|[^\w./-]|\\[tn]")
"""A word that is the value of an option, as in ``cut -f 2``, and not a file."""


def file_read(command: str) -> str | None:
    """Return the file that a pipeline reads, or None if the command is not understood or may do more than read.

    Unlike `parse_command`, it accepts pipelines without jq.
    """
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
        elif program in _WORDS_BEFORE_FILE or not _VALUE.fullmatch(word):
            operands.append(word)
    files = operands[_WORDS_BEFORE_FILE.get(program, 0) :]
    if len(files) > 1 or (files and not first and files[0] != SUBSTITUTED):
        raise RecipeSyntaxError(f"{program} reads {files[-1]!r} instead of the pipe")
    return files[0] if files else None
