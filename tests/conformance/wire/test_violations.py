"""Violations of the protocol on stdout: which of them a report shows."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.lab.ledger import HeldRam, Ledger
from lro_conformance.wire import jsonrpc
from lro_conformance.wire.transcript import Transcript, violations

WARNING = "Warning: mkdir(): File exists"


@pytest.fixture
def transcript() -> Transcript:
    """The transcript of a server that writes an empty line, a warning and two further empty lines."""
    written = Transcript()
    for at, line in enumerate((b"", WARNING.encode(), b"", b"")):
        written.add("in", line, jsonrpc.parse(line).problems, at=float(at))
    written.note("late", "tolerated")
    return written


def test_empty_lines_come_last(transcript: Transcript) -> None:
    assert [a.at for a in violations(transcript.anomalies)] == [1, 0, 2, 3]


def test_the_first_line_of_a_run_that_shows_something_is_kept_with_its_server(transcript: Transcript) -> None:
    stray: Any = None
    ledger, first, second = Ledger(HeldRam(), stray), *(Made(number=n) for n in (1, 2))
    servers: Any = ((Made(number=0), []), (first, transcript.anomalies), (second, transcript.anomalies))
    for start, anomalies in servers:
        ledger.note_end(anomalies, (), start)
    assert WARNING in ledger.protocol_violations[0]
    assert len(ledger.protocol_violations) == 6
    assert ledger.first_violation == (first, 1.0)
