"""The job of the sandbox (`lro_spec.sandbox.worker`) that runs jq.

It runs command lines as jq itself would run them, or one query on the records of a file.

Command lines (``{"calls": …}``) run in libjq or in the jq binary of the option ``binary``. A query (``{"query": …}``)
runs in libjq on the file that was passed to the sandbox.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

    from lro_spec.sandbox.worker import Context, Run

    Result = dict[str, Any]

_CHUNK = 1 << 16
_MAX_STDERR = 8192
_MAX_FAILURES_SHOWN = 3
_MAX_NOTES = 4096

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def prepare(context: Context) -> Run:
    """Import libjq, unless a binary is used."""
    binary: str | None = context.options.get("binary")
    jq: Any = None if binary else importlib.import_module("jq")

    # Compiling a program takes ten times as long as running it on a file of a few records.
    @functools.lru_cache(maxsize=256)
    def compiled(program: str, args: str) -> Any:
        return jq.compile(program, args=json.loads(args))

    def call_binary(call: dict[str, Any], data: bytes, max_output: int, until: float) -> tuple[Result, bytes]:
        assert binary is not None
        return _binary(binary, call, data, max_output, until, context.end_with_parent)

    def call_libjq(call: dict[str, Any], data: bytes, max_output: int, until: float) -> tuple[Result, bytes]:
        return _libjq(compiled, call, data, max_output, until)

    def run(request: dict[str, Any], data: bytes) -> tuple[Result, bytes]:
        if "query" in request:
            return _query(jq, request, context.files[0])
        return _calls(call_binary if binary else call_libjq, request, data)

    return run


# Lone surrogates are replaced: every version of jq treats them differently, which is not the program's fault.
_ANY_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|[^u]|u)"
)


def _without_lone_surrogates(data: bytes) -> bytes:
    """JSON with U+FFFD in place of each lone surrogate."""
    if not _ANY_SURROGATE.search(data):  # a quick test
        return data
    return _SURROGATES.sub(lambda match: b"\\ufffd" if match[1] else match[0], data)


# --- command lines


def _calls(
    engine: Callable[[dict[str, Any], bytes, int, float], tuple[Result, bytes]], request: dict[str, Any], data: bytes
) -> tuple[Result, bytes]:
    """Run each call on the output of the call before it. Stop at the first call that has a problem, for example because
    it reached a limit.

    Returns the result of the last call that ran, with the stderr of all calls.
    """
    result: Result = {"status": 0, "stderr": "", "problem": ""}
    data = _without_lone_surrogates(_lines(data, request["skip"], request["take"]))
    until = time.monotonic() + request["timeout_s"]
    for call in request["calls"]:
        call_result, data = engine(call, data, request["max_output"], until)
        result = {**call_result, "stderr": (result["stderr"] + call_result["stderr"])[:_MAX_STDERR]}
        if call_result["problem"]:
            break
    return result, data


def _lines(data: bytes, skip: int, take: int | None) -> bytes:
    """At most *take* lines, after the first *skip* lines."""
    start = 0
    for _ in range(skip):
        newline = data.find(b"\n", start)
        if newline < 0:
            return b""
        start = newline + 1
    if take is None:
        return data[start:]
    end = start
    for _ in range(take):
        newline = data.find(b"\n", end)
        if newline < 0:
            return data[start:]
        end = newline + 1
    return data[start:end]


def _failed(problem: str, status: int = 5, stderr: str = "") -> Result:
    return {"status": status, "stderr": stderr, "problem": problem}


# --- command lines: the binary


def _binary(
    binary: str,
    call: dict[str, Any],
    data: bytes,
    max_output: int,
    until: float,
    end_with_parent: Callable[[], None],
) -> tuple[Result, bytes]:
    import subprocess

    argv = [binary, "-c"]
    argv += [option for option, key in (("-s", "slurp"), ("-n", "null_input"), ("-r", "raw")) if call[key]]
    if call["join"]:
        argv.append("-j")
    for name, value in call["args"].items():
        argv += ["--arg", name, value]
    for name, value in call["argjson"].items():
        argv += ["--argjson", name, json.dumps(value)]
    argv.append(f" {call['program']}")  # without the blank, a program that begins with - would be an option
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"HOME": "/nonexistent"},  # without it jq asks the system where ~/.jq is
            cwd="/",
            preexec_fn=end_with_parent,
        )
    except (OSError, ValueError) as problem:
        return _failed(f"jq could not be started: {problem}", 127), b""
    with process:
        try:
            output, errors, problem = _communicate(process, data, max_output, until)
        except BaseException:
            process.kill()
            raise
        if problem:
            process.kill()
        status = process.wait()
    return {"status": status, "stderr": errors.decode(errors="replace"), "problem": problem}, output


def _communicate(
    process: subprocess.Popen[bytes], data: bytes, max_output: int, until: float
) -> tuple[bytes, bytes, str]:
    """Write to a process and read from it at the same time.

    Returns the output and the errors of the process, and the limit that it reached. The limit is empty if the process
    ended by itself.
    """
    import selectors

    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors, view = bytearray(), bytearray(), memoryview(data)
    with selectors.DefaultSelector() as selector:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            remaining_s = until - time.monotonic()
            if remaining_s <= 0:
                return bytes(output), bytes(errors), "timed out"
            for key, _ in selector.select(remaining_s):
                if key.fileobj is process.stdin:
                    try:
                        view = view[os.write(key.fd, view[:_CHUNK]) :]
                    except BlockingIOError:
                        continue
                    except OSError:
                        view = view[:0]
                    if not view:
                        selector.unregister(process.stdin)
                        with contextlib.suppress(OSError):
                            process.stdin.close()
                    continue
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    errors += chunk[: max(0, _MAX_STDERR - len(errors))]
                else:
                    output += chunk
                    if len(output) > max_output:
                        return bytes(output[:max_output]), bytes(errors), f"more than {max_output} bytes of output"
    return bytes(output), bytes(errors), ""


# --- command lines: libjq


def _libjq(
    compiled: Callable[[str, str], Any], call: dict[str, Any], data: bytes, max_output: int, until: float
) -> tuple[Result, bytes]:
    text = data.decode("utf-8", "replace")
    args = json.dumps({**call["args"], **call["argjson"]})
    try:
        program = compiled(call["program"], args)
        # `wrapped` is the program with `input` and `inputs` bound to its input, because libjq does not provide them. It
        # is compiled only after the program itself, because the added code must not repair a broken program.
        if call["wrapped"]:
            program = compiled(call["wrapped"], args)
    except ValueError as problem:
        return _failed("", 3, f"{problem}\n"), b""
    if call["wrapped"] or call["slurp"]:
        return _outputs([program.input_text(text, slurp=True)], call, max_output, until)
    if call["null_input"]:
        return _outputs([program.input_value(None)], call, max_output, until)
    result, output = _outputs([program.input_text(text)], call, max_output, until)
    if result["status"] == 0:
        return result, output
    return _outputs((program.input_text(part) for part in _texts(text)), call, max_output, until)


def _outputs(batches: Iterable[Any], call: dict[str, Any], max_output: int, until: float) -> tuple[Result, bytes]:
    """Collect the outputs of a program. Each batch has the outputs for one input text. The program runs on that text
    when the batch is read."""
    output = bytearray()
    status, errors = 0, ""
    for batch in batches:
        status = 0
        try:
            for value in batch:
                output += _written(value, call)
                if len(output) > max_output:
                    problem = f"more than {max_output} bytes of output"
                    return _failed(problem, stderr=errors), bytes(output[:max_output])
                if time.monotonic() > until:
                    break
        except ValueError as problem:
            # Like jq, report the error, drop this input, and continue with the next. Only the status of the last input
            # counts.
            errors = f"{errors}jq: error (at <stdin>): {problem}\n"[:_MAX_STDERR]
            status = 5
            if str(problem).startswith("parse error"):
                status = 2
                break
        if time.monotonic() > until:
            return {"status": status, "stderr": errors, "problem": "timed out"}, bytes(output)
    return {"status": status, "stderr": errors, "problem": ""}, bytes(output)


def _texts(text: str) -> Iterator[str]:
    """The lines of a stream, if the first of them is a JSON text; otherwise the whole stream.

    Callers run them one by one, because libjq cannot go on to the next input after an error.
    """
    lines = [line for line in text.split("\n") if line.strip(" \t\r")]
    try:
        json.loads(lines[0] if lines else "")
    except (ValueError, RecursionError):
        yield text
    else:
        yield from lines


def _written(value: object, call: dict[str, Any]) -> bytes:
    text = value if call["raw"] and isinstance(value, str) else _encode(value)
    return (text if call["join"] else f"{text}\n").encode("utf-8", "replace")


# --- a query on each record of a file


class _Enough(Exception):
    """Raised when all requested results, or as many as fit, have been written."""


class _Results:
    """Collects at most *limit* results after the first *skip* results, as far as they fit into *max_output* bytes."""

    def __init__(self, skip: int, limit: int | None, max_output: int) -> None:
        self._skip, self._limit, self._max_output = skip, limit, max_output
        self.output = bytearray()
        self.count = 0
        self.too_large = False

    def write(self, text: str) -> None:
        self.count += 1
        if self.count <= self._skip:
            return
        line = text.encode("utf-8", "replace") + b"\n"
        if len(self.output) + len(line) > self._max_output:
            self.too_large = True
            raise _Enough
        self.output += line
        if self._limit is not None and self.count >= self._skip + self._limit:
            raise _Enough

    @property
    def all_skipped(self) -> bool:
        return 0 < self.count <= self._skip


def _query(jq: Any, request: dict[str, Any], file: BinaryIO) -> tuple[Result, bytes]:
    """Return the results of a query, or a problem.

    There is a problem if the query is invalid, or if it failed on records and has no result on any other record. If all
    records were read, a note says on how many records the query failed. Another note says if all results were skipped.
    """
    program: str = request["query"]
    try:
        jq.compile(program, args=request["args"])  # alone first, because the added code must not repair it
        # jq writes the results as text, because Python's numbers have fewer digits than jq's.
        text = 'if type == "string" then . else tojson end' if request["raw"] else "tojson"
        compiled = jq.compile(f"(\n{program}\n) | {text}", args=request["args"])
    except ValueError as problem:
        return {"problem": f"the query is not a valid jq program: {_message(problem)}"}, b""
    slurp: bool = request["slurp"]
    results = _Results(request["skip"], request["limit"], request["max_output"])
    failed, reasons = 0, list[str]()
    file.readline()  # the header
    try:
        for number, record in enumerate(_inputs(file, slurp), 1):
            try:
                for value in compiled.input_text(record):
                    results.write(_indented(value) if request["indent"] else value)
            except ValueError as problem:
                failed += 1
                if len(reasons) < _MAX_FAILURES_SHOWN:
                    reasons.append(_message(problem) if slurp else f"record {number}: {_message(problem)}")
    except _Enough:
        failed = 0
    reasons_text = "; ".join(reasons)
    if failed and not results.count:
        return {
            "problem": f"the query failed on {'the records' if slurp else f'{failed} records'} ({reasons_text})"
        }, b""
    notes = [f"left out: {failed} records on which the query failed ({reasons_text})"] if failed else []
    if results.all_skipped:
        skipped = request["skip"]
        notes.append(f"there are {results.count} results, so none remains after the first {skipped}")
    result = {"problem": "", "notes": "\n".join(notes)[:_MAX_NOTES], "too_large": results.too_large}
    return result, bytes(results.output)


def _inputs(file: BinaryIO, slurp: bool) -> Iterator[str]:
    lines = (_without_lone_surrogates(line).decode("utf-8", "replace") for line in file if line.strip())
    if slurp:
        yield f"[{','.join(lines)}]"
    else:
        yield from lines


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\[\]{},:"]+')


def _indented(text: str) -> str:
    """Spread a JSON text without spaces over several lines. The text is split into tokens, so that no digit is lost."""
    parts: list[str] = []
    depth, previous = 0, ""
    for part in _TOKEN.findall(text):
        closes = part in ("]", "}")
        depth -= closes
        if previous == "," or (previous not in ("[", "{") if closes else previous in ("[", "{")):
            parts.append("\n" + "  " * depth)
        parts.append(": " if part == ":" else part)
        depth += part in ("[", "{")
        previous = part
    return "".join(parts)


def _message(problem: Exception) -> str:
    return " ".join(str(problem).split())[:300]
