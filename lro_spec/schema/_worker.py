"""The child process that evaluates a schema nobody trusts. It reads stdin, writes stdout, and bounds itself.

Stdin: a line with the schema and the limits, then a record a line. Stdout: for a violation its index and its fields,
``{"judged", "stuck"}`` at the end: *stuck* when one record alone used up the time.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from types import FrameType
from typing import Any

_MEMORY = 1024 * 1024 * 1024


class _TimeUp(Exception):
    pass


def main() -> None:
    """Judges until the records, the violations that were asked for, or the time run out."""
    from lro_spec.schema.untrusted import judge_of

    order = json.loads(sys.stdin.buffer.readline())
    _end_with(order["parent"])
    judge = judge_of(order["schema"])
    judge_of(True)(0)  # imports are not the schema's time
    timeout_s = float(order["timeout_s"])
    _bound(timeout_s)
    began = record_began = time.monotonic()
    judged = found = 0
    stuck = False
    try:
        for violation in map(judge, _records()):
            if violation is not None:
                _say({"index": judged, **asdict(violation)})
                found += 1
            judged += 1
            record_began = time.monotonic()
            if found >= order["limit"]:
                break
    except _TimeUp:
        now = time.monotonic()
        stuck = now - record_began > (now - began) / 2
    except MemoryError:
        stuck = True
    _say({"judged": judged, "stuck": stuck})


def _records() -> Iterator[Any]:
    for line in sys.stdin.buffer:
        yield json.loads(line)


def _bound(timeout_s: float) -> None:
    signal.signal(signal.SIGALRM, _time_up)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    # Should Python never get to the signal, the kernel ends the process.
    resource.setrlimit(resource.RLIMIT_CPU, (int(2 * timeout_s) + 5, int(2 * timeout_s) + 6))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with(parent: int) -> None:
    """From now on the kernel ends this process when the one that waits for it ends, however that happens (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it was gone before
        os._exit(1)


def _time_up(_signal: int, _frame: FrameType | None) -> None:
    raise _TimeUp


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()
