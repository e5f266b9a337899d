"""The job that evaluates a foreign schema in the sandbox; `lro_spec.schema.untrusted.SchemaChild` sends the requests.

A request has the schema, the limit of violations, and the time limit; ``spent_s`` is the time that earlier requests of
the same evaluation took. The data are records, one per line. Evaluation ends after the last record, at the limit of
violations, or when the time is up. The result has the number of records that were checked (``judged``), the violations,
and the time taken. It also has ``stuck``, which is true if the memory was exhausted, or if the time was up during a
record that had taken more than half of the evaluation's time so far.
"""

from __future__ import annotations

import io
import json
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from types import FrameType
from typing import TYPE_CHECKING, Any

from lro_spec.schema.untrusted import Violation, judge_of

if TYPE_CHECKING:
    from lro_spec.sandbox.worker import Context, Run


class _TimeUp(Exception):
    pass


def prepare(context: Context) -> Run:
    """Import the modules that evaluation needs, so that this does not count as the schema's time."""
    del context
    judge_of(True)(0)
    signal.signal(signal.SIGALRM, _time_up)
    return _run


def _time_up(_signal: int, _frame: FrameType | None) -> None:
    raise _TimeUp


@lru_cache(maxsize=1)
def _judge(schema: str) -> Callable[[object], Violation | None]:
    return judge_of(json.loads(schema))


def _run(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    violations: list[dict[str, Any]] = []
    judged, stuck = 0, False
    began = record_began = time.monotonic()
    try:
        try:
            judge = _judge(request["schema"])
            # If Python never handles this signal, the sandbox's limit of processor time ends the process.
            signal.setitimer(signal.ITIMER_REAL, request["timeout_s"])
            began = record_began = time.monotonic()
            for line in io.BytesIO(data):
                violation = judge(json.loads(line))
                if violation is not None:
                    violations.append({"index": judged, **asdict(violation)})
                judged += 1
                record_began = time.monotonic()
                if len(violations) >= request["limit"]:
                    break
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TimeUp:
        now = time.monotonic()
        stuck = now - record_began > (request["spent_s"] + now - began) / 2
    except MemoryError:
        stuck = True
    seconds = time.monotonic() - began
    return {"judged": judged, "stuck": stuck, "violations": violations, "seconds": seconds}, b""
