"""A server process and the raw JSON-RPC lines that go in and come out of it.

`Run` makes `ServerProcess` objects and working folders, and sees to it that none of them outlives it.
"""

from lro_conformance.wire.child import Exit
from lro_conformance.wire.connection import Limits
from lro_conformance.wire.dialogue import Failure, FailureKind, Reply
from lro_conformance.wire.process import ServerProcess
from lro_conformance.wire.run import Run
from lro_conformance.wire.transcript import Anomaly, Message, Transcript

__all__ = [
    "Anomaly",
    "Exit",
    "Failure",
    "FailureKind",
    "Limits",
    "Message",
    "Reply",
    "Run",
    "ServerProcess",
    "Transcript",
]
