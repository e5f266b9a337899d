"""A server process and the raw JSON-RPC lines that go in and come out of it.

`Run` makes `ServerProcess` objects and working folders, and sees to it that none of them outlives it.
"""

from lro_conformance.wire.child import Exit
from lro_conformance.wire.exchange import Failure, FailureKind, Reply
from lro_conformance.wire.server import Limits, ServerProcess
from lro_conformance.wire.transcript import Anomaly, Entry, Transcript
from lro_conformance.wire.workspace import Run

__all__ = [
    "Anomaly",
    "Entry",
    "Exit",
    "Failure",
    "FailureKind",
    "Limits",
    "Reply",
    "Run",
    "ServerProcess",
    "Transcript",
]
