"""The process that runs jq programs: never imported, started by `lro_spec.recipes.runner` under an empty environment.

It limits itself first, memory and file writes, so that whatever it runs inherits that. Jobs come one after the other on
standard input: a line of JSON, then as many bytes of data as it says. Answers go the same way to standard output.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
import resource
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

_CHUNK = 1 << 16
_MOST_STDERR = 8192
# Half a surrogate pair: every version of jq does something else with it, and no server is to be blamed for one.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|[^u]|u)"
)

_spell = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Answer = dict[str, Any]


def main() -> None:
    """Answers jobs until standard input ends.

    Arguments: memory limit in bytes; the process to end with, or 0; then where the jq package is.
    """
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a program prints by itself may look like an answer
    _end_with(int(sys.argv[2]))
    if len(sys.argv) > 3:
        sys.path.append(sys.argv[3])
    for name in list(os.environ):
        del os.environ[name]
    for limit, value in (("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0), ("RLIMIT_AS", int(sys.argv[1]))):
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, limit), (value, value))
    data = b""
    while line := jobs.readline():
        job: dict[str, Any] = json.loads(line)
        if job["bytes"] is not None:
            data = _read(jobs, job["bytes"])
        _limit_cpu(job["timeout_s"])
        before = _cpu()
        answer, stdout = _run(job, data)
        answer["cpu_s"] = _cpu() - before
        answer["bytes"] = len(stdout)
        answers.write(json.dumps(answer).encode() + b"\n" + stdout)
        answers.flush()


def _end_with(parent: int) -> None:
    # libjq never lets go of the interpreter's lock, so neither a thread nor the end of standard input can tell.
    if not parent or sys.platform != "linux":
        return
    ended_by = importlib.import_module("ctypes").CDLL(None).prctl
    ended_by(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
    if os.getppid() != parent:
        sys.exit("nobody waits for answers any more")


def _read(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        sys.exit("the job ended before its data")
    return data


def _cpu(*of: int) -> float:
    """The processor time that this process and those it has started took so far, in seconds; or *of* some of them."""
    used = [resource.getrusage(who) for who in of or (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _limit_cpu(seconds: float) -> None:
    soft = int(_cpu(resource.RUSAGE_SELF) + seconds) + 2
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _run(job: dict[str, Any], data: bytes) -> tuple[Answer, bytes]:
    """Each call on the output of the one before; the first that fails to say anything useful ends the row."""
    answer: Answer = {"status": 0, "stderr": "", "problem": ""}
    data = _lines(data, job["skip"], job["take"])
    if _HALF.search(data):
        data = _SURROGATES.sub(lambda match: b"\\ufffd" if match[1] else match[0], data)
    deadline = time.monotonic() + job["timeout_s"]
    for call in job["calls"]:
        engine = _binary if job["binary"] else _libjq
        this, data = engine(job, call, data, deadline)
        stderr = answer["stderr"] + this["stderr"]
        answer = {**this, "stderr": stderr[:_MOST_STDERR]}
        if this["problem"]:
            break
    return answer, data


def _lines(data: bytes, skip: int, take: int | None) -> bytes:
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


def _failed(problem: str, status: int = 5, stderr: str = "") -> Answer:
    return {"status": status, "stderr": stderr, "problem": problem}


# --- the binary


def _binary(job: dict[str, Any], call: dict[str, Any], data: bytes, deadline: float) -> tuple[Answer, bytes]:
    argv = [job["binary"], "-c"]
    argv += [option for option, key in (("-s", "slurp"), ("-n", "null_input"), ("-r", "raw")) if call[key]]
    if call["join"]:
        argv.append("-j")
    for name, value in call["args"].items():
        argv += ["--arg", name, value]
    for name, value in call["argjson"].items():
        argv += ["--argjson", name, json.dumps(value)]
    argv.append(f" {call['program']}")  # a blank first, or a program that begins with - is an option
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"HOME": "/nonexistent"},  # without it jq asks the system where ~/.jq is
            cwd="/",
        )
    except (OSError, ValueError) as problem:
        return _failed(f"jq could not be started: {problem}", 127), b""
    with process:
        try:
            output, errors, problem = _talk(process, data, job["max_output"], deadline)
        except BaseException:
            process.kill()
            raise
        if problem:
            process.kill()
        status = process.wait()
    return {"status": status, "stderr": errors.decode(errors="replace"), "problem": problem}, output


def _talk(process: subprocess.Popen[bytes], data: bytes, most: int, deadline: float) -> tuple[bytes, bytes, str]:
    """Feeds a process and reads it, all at once: output, errors, and what went wrong."""
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
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(output), bytes(errors), "timed out"
            for key, _ in selector.select(left):
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
                    errors += chunk[: max(0, _MOST_STDERR - len(errors))]
                else:
                    output += chunk
                    if len(output) > most:
                        return bytes(output[:most]), bytes(errors), f"more than {most} bytes of output"
    return bytes(output), bytes(errors), ""


# --- libjq


def _libjq(job: dict[str, Any], call: dict[str, Any], data: bytes, deadline: float) -> tuple[Answer, bytes]:
    text = data.decode("utf-8", "replace")
    args = json.dumps({**call["args"], **call["argjson"]})
    try:
        program = _compiled(call["program"], args)
        if call["wrapped"]:  # only now: a program that is broken must not be mended by what is put around it
            program = _compiled(call["wrapped"], args)
    except ValueError as problem:
        return _failed("", 3, f"{problem}\n"), b""
    if call["wrapped"] or call["slurp"]:
        return _spoken([program.input_text(text, slurp=True)], call, job["max_output"], deadline)
    if call["null_input"]:
        return _spoken([program.input_value(None)], call, job["max_output"], deadline)
    answer, output = _spoken([program.input_text(text)], call, job["max_output"], deadline)
    if answer["status"] == 0:
        return answer, output
    return _spoken((program.input_text(part) for part in _texts(text)), call, job["max_output"], deadline)


@functools.lru_cache(maxsize=256)
def _compiled(program: str, args: str) -> Any:
    """Compiling takes ten times as long as running on a file of some records."""
    jq: Any = importlib.import_module("jq")
    return jq.compile(program, args=json.loads(args))


def _spoken(batches: Iterable[Any], call: dict[str, Any], most: int, deadline: float) -> tuple[Answer, bytes]:
    """What a program says to inputs, batch by batch."""
    output = bytearray()
    status, errors = 0, ""
    for batch in batches:
        status = 0
        try:
            for value in batch:
                output += _spelled(value, call)
                if len(output) > most:
                    return _failed(f"more than {most} bytes of output", stderr=errors), bytes(output[:most])
                if time.monotonic() > deadline:
                    break
        except ValueError as problem:
            # As the program does: say so, drop this input, go on with the next one; only the last one's status counts.
            errors = f"{errors}jq: error (at <stdin>): {problem}\n"[:_MOST_STDERR]
            status = 5
            if str(problem).startswith("parse error"):
                status = 2
                break
        if time.monotonic() > deadline:
            return {"status": status, "stderr": errors, "problem": "timed out"}, bytes(output)
    return {"status": status, "stderr": errors, "problem": ""}, bytes(output)


def _texts(text: str) -> Iterator[str]:
    """The JSON texts of a stream, each alone where lines are texts: after an error libjq cannot go on within one."""
    lines = [line for line in text.split("\n") if line.strip(" \t\r")]
    try:
        json.loads(lines[0] if lines else "")
    except (ValueError, RecursionError):
        yield text
    else:
        yield from lines


def _spelled(value: object, call: dict[str, Any]) -> bytes:
    spelled = value if call["raw"] and isinstance(value, str) else _spell(value)
    return (spelled if call["join"] else f"{spelled}\n").encode("utf-8", "replace")


if __name__ == "__main__":
    main()
