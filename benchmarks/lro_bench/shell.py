"""An imitation of a shell: pipelines of cat, head, tail, grep, wc, sort, uniq and jq over the files of one server.

Commands are parsed by the rules of POSIX (`lro_spec.recipes.shell`) and never passed to a real shell. jq programs and
regular expressions run in the project's sandbox; the other programs are a few lines of Python each.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.runner import EngineError, JqRunner
from lro_spec.recipes.shell import RecipeSyntaxError, split_pipeline
from lro_spec.sandbox.process import REGEX, JobLimits, Sandbox, WorkerError

SECONDS = 20.0
_MEMORY = 512 << 20


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a command."""

    text: str
    failed: bool = False


class CommandError(ValueError):
    """A command cannot be run, or fails; the message is for the agent."""


class Shell:
    """Runs commands on *files*, which are bytes by the paths that an agent knows. A context manager."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._jq = JqRunner(timeout_s=SECONDS)
        self._outputs: dict[str, Output] = {}
        """Outputs by command. They are kept because the files never change, and conditions share commands."""

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self._jq.close()

    def run(self, command: str) -> Output:
        """Run a command line, and return its output. A failure is an output, too."""
        if command not in self._outputs:
            self._outputs[command] = self._output(command)
        return self._outputs[command]

    def _output(self, command: str) -> Output:
        try:
            return Output(self._run(command).decode("utf-8", "replace"))
        except (CommandError, RecipeSyntaxError, EngineError) as problem:
            return Output(f"{problem}\n", failed=True)

    def _run(self, command: str) -> bytes:
        stages = split_pipeline(command)
        data = b""
        for position, stage in enumerate(stages):
            name, *words = stage or ("",)
            if name == "jq":
                data = self._run_jq(words, data, is_first=position == 0)
            elif name in PROGRAMS:
                options, operands = _options_and_operands(name, words)
                if operands:
                    data = b"".join(self._file(operand) for operand in operands)
                elif position == 0:
                    raise CommandError(f"{name}: name a file")
                data = PROGRAMS[name](options, data)
            else:
                raise CommandError(f"{name}: not available here; there are jq, {', '.join(PROGRAMS)}, and pipes")
        return data

    def _file(self, path: str) -> bytes:
        if path not in self._files:
            raise CommandError(f"{path}: no such file; there is {', '.join(self._files) or 'none'}")
        return self._files[path]

    def _run_jq(self, words: Sequence[str], data: bytes, *, is_first: bool) -> bytes:
        path = next((word for word in words if word in self._files), None)
        if path is None and is_first:
            raise CommandError("jq: name a file")
        pipeline = parse_command(shlex.join(["jq", *words, *([] if path else ["/-"])]))
        outcome = self._jq.run(pipeline, data if path is None else self._files[path])
        if not outcome.ok and not outcome.stdout:
            raise CommandError(f"jq: {outcome.problem or outcome.stderr.strip() or f'exit status {outcome.status}'}")
        return outcome.stdout


def _options_and_operands(program: str, words: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The options of a program with their values, and its operands.

    The first operand of grep is its pattern, which is returned as the option ``e``.
    """
    flags, letters_with_value = _OPTIONS[program]
    options: dict[str, list[str]] = {}
    operands: list[str] = []
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word == "--":
            operands += remaining
            break
        if re.fullmatch(r"-\d+", word):  # head -5
            options.setdefault("n", []).append(word[1:])
        elif word.startswith("-") and len(word) > 1:
            for index, letter in enumerate(word[1:], 1):
                if letter in letters_with_value:
                    value = word[index + 1 :] or (remaining.pop(0) if remaining else "")
                    options.setdefault(letter, []).append(value)
                    break
                if letter not in flags:
                    raise CommandError(f"{program}: the option -{letter} is not available here")
                options.setdefault(letter, []).append("")
        else:
            operands.append(word)
    if program == "grep" and "e" not in options:
        if not operands:
            raise CommandError("grep: give a pattern")
        options["e"] = [operands.pop(0)]
    return options, operands


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _cat(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    del options
    return data


def _number_option(options: Mapping[str, Sequence[str]], default: str = "10", *, option: str = "n") -> str:
    text = options.get(option, [default])[-1]
    if not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise CommandError(f"-{option} {text}: expected a number")
    return text


def _head(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    if "c" in options:
        return data[: int(_number_option(options, option="c"))]
    return b"".join(_lines(data)[: int(_number_option(options))])


def _tail(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    text, lines = _number_option(options), _lines(data)
    first = max(0, int(text) - 1) if text.startswith("+") else max(0, len(lines) - abs(int(text)))
    return b"".join(lines[first:])


def _wc(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    counts = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}
    return (" ".join(str(counts[letter]) for letter in counts if letter in (options or counts)) + "\n").encode()


def _sort(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    def key(line: bytes) -> Any:
        number = re.match(rb"\s*(-?\d+(?:\.\d+)?)", line)
        return line if "n" not in options else float(number[1]) if number is not None else 0.0

    lines = sorted(_lines(data if data.endswith(b"\n") or not data else data + b"\n"), key=key)
    if "u" in options:
        first_lines: dict[Any, bytes] = {}
        for line in lines:
            first_lines.setdefault(key(line), line)
        lines = list(first_lines.values())
    return b"".join(reversed(lines) if "r" in options else lines)


def _uniq(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    counted: list[tuple[bytes, int]] = []
    for line in _lines(data):
        if counted and counted[-1][0] == line:
            counted[-1] = line, counted[-1][1] + 1
        else:
            counted.append((line, 1))
    return b"".join(b"%7d %b" % (count, line) if "c" in options else line for line, count in counted)


def _grep(options: Mapping[str, Sequence[str]], data: bytes) -> bytes:
    patterns = [part for pattern in options["e"] for part in pattern.split("\n")]
    if "F" in options:
        expression = "|".join(map(re.escape, patterns))
    else:
        expression = "|".join(
            f"(?:{p if 'E' in options or 'P' in options else _extended_pattern(p)})" for p in patterns
        )
    if "w" in options:
        expression = rf"\b(?:{expression})\b"
    lines = _lines(data)
    ignores_case = "i" in options
    if "o" in options:
        if "F" not in options:
            raise CommandError("grep -o is available with -F only; use jq to take fields out of records")
        matches = re.compile(expression.encode(), re.IGNORECASE if ignores_case else 0).findall(data)
        return b"".join(match + b"\n" for match in matches) if "c" not in options else b"%d\n" % len(matches)
    if "F" in options and "w" not in options:
        texts = [pattern.lower().encode() if ignores_case else pattern.encode() for pattern in patterns]
        searched = [line.lower() for line in lines] if ignores_case else lines
        matching = {number for number, line in enumerate(searched, 1) if any(text in line for text in texts)}
    else:
        matching = _matching_lines(expression, data, case_sensitive=not ignores_case)
    if "v" in options:
        matching = set(range(1, len(lines) + 1)) - matching
    if "c" in options:
        return b"%d\n" % len(matching)
    selected = sorted(matching)[: int(_number_option(options, option="m")) if "m" in options else None]
    has_line_numbers = "n" in options
    return b"".join((b"%d:" % n if has_line_numbers else b"") + lines[n - 1] for n in selected)


def _extended_pattern(pattern: str) -> str:
    """Convert a basic regular expression to an extended one.

    The characters ``|(){}+?`` are special with a backslash in the former, and without a backslash in the latter.
    """
    return re.sub(r"\\?[|(){}+?]", lambda match: match[0][1:] if len(match[0]) == 2 else f"\\{match[0]}", pattern)


def _matching_lines(expression: str, data: bytes, *, case_sensitive: bool) -> set[int]:
    """Numbers of the lines that match. The expression is evaluated in the sandbox."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        request = {"pattern": expression, "case_sensitive": case_sensitive, "limit": 1 << 30, "max_output": 8 << 20}
        with Sandbox(REGEX, memory=_MEMORY, files=[file.fileno()], sealed=True) as sandbox:
            try:
                answer = sandbox.run(request, limits=JobLimits(SECONDS, SECONDS + 1, 8 << 20))
            except WorkerError as problem:
                raise CommandError(f"grep: {problem}") from None
    if answer.result["problem"]:
        raise CommandError(f"grep: {answer.result['problem']}")
    return {int(number) for number in answer.output.split()}


PROGRAMS: Mapping[str, Callable[[Mapping[str, Sequence[str]], bytes], bytes]] = {
    "cat": _cat,
    "head": _head,
    "tail": _tail,
    "grep": _grep,
    "wc": _wc,
    "sort": _sort,
    "uniq": _uniq,
}
"""The programs other than jq. Each is a function that takes the options and the input, and returns the output."""
_OPTIONS: Mapping[str, tuple[str, str]] = {
    "cat": ("", ""),
    "head": ("", "nc"),
    "tail": ("", "n"),
    "grep": ("coivFEPwhna", "em"),
    "wc": ("lwc", ""),
    "sort": ("nru", ""),
    "uniq": ("c", ""),
}
"""Options of each program: the letters of the options without a value, and the letters of the options with a value."""
