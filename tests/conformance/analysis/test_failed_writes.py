"""What a warning adds to what a result says anyway."""

from __future__ import annotations

import pytest

from lro_conformance.analysis import failed_writes
from tests.support.private import inner

USUAL = '{"count": 40, "error": null, "truncated": false, "results": []}\nOnly active ones. Shown: 40 of 40.'


@pytest.mark.parametrize(
    ("text", "unusual"),
    [
        (USUAL, ""),
        (USUAL.replace("40", "5"), ""),
        (USUAL.replace("40 of", "5 of"), "Shown: 5 of 40."),
        (USUAL.replace("false", "true"), '"truncated": true'),
        (USUAL.replace("null", '"no space left"'), '"error": "no space left"'),
        (f"{USUAL} It failed.", "It failed."),
        (f"{USUAL}\nIt failed.", "It failed."),
        ('{"error": "", "errors": [], "failures": 0, "failed": {}}', ""),
        ('{"failures": 0.5}', '"failures": 0.5'),
    ],
)
def test_what_is_said_anyway_is_no_warning(text: str, unusual: str) -> None:
    assert inner(failed_writes, "_unusual")(text, [USUAL]) == unusual
