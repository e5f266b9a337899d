"""A short description of a call's result, for reports without a verdict and for `lro init`."""

from __future__ import annotations

from lro_conformance.capture.call import Call
from lro_conformance.capture.claims import size_of
from lro_conformance.capture.records import show
from lro_conformance.capture.warnings import write_failure


def result_summary(call: Call) -> str:
    """A short description of a call's result: an error, a text, records, or no response."""
    if (warning := write_failure(call)) is not None:
        return f"a truncated result, which the server says it could not write: {warning}"
    if call.reply.failure is not None:
        return call.reply.failure.detail
    if call.outcome == "error":
        return f"an error: {show(call.text if call.reply.error is None else call.reply.error, 200)}"
    if call.records is None:
        return f"a text of {len(call.text)} characters: {show(call.text, 80)}" if call.text else "no text"
    return (
        f"{len(call.records)} record{'s' if len(call.records) > 1 else ''} of {size_of(call)} characters"
        if call.records
        else "no records"
    )
