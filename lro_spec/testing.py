"""An assertion for a server's own tests, which reports everything that is wrong with a descriptor.

`assert_valid_descriptor(result, follow=True)` is all that a test needs; *result* is the result of the tool call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from lro_spec.discovery import find_descriptor, reply_result
from lro_spec.findings import Finding
from lro_spec.jsonl.values import not_strict, problems
from lro_spec.validation import validate_descriptor
from lro_spec.validation.linked import follow as followed


def assert_valid_descriptor(
    value: object, *, edition: str = "lro-6400", follow: bool = False, allow_warnings: bool = True
) -> dict[str, Any]:
    """Assert that a value is a valid descriptor, and return it.

    *value* is a descriptor, or the result of a tool call that contains a descriptor. The result is either parsed JSON
    or an object of the official SDK. Parsed JSON has ``content`` or ``structuredContent``, or is the JSON-RPC reply
    with the result. With *follow*, the descriptor's file is opened and validated, too.

    If there are findings, raises `AssertionError` with a line for each of them. Warnings count as findings unless they
    are allowed. If the result has no descriptor, `AssertionError` is also raised. Raises `ValueError` for an unknown
    edition.
    """
    __tracebackhide__ = True
    descriptor, ambiguities = _descriptor(value)
    check = followed if follow else validate_descriptor
    findings = [f for f in check(descriptor, edition=edition) if not (allow_warnings and f.severity == "warning")]
    findings = ambiguities or findings  # if the text is ambiguous, nothing else is certain
    if findings:
        raise AssertionError(_message(findings))
    return cast("dict[str, Any]", descriptor)


def _descriptor(value: object) -> tuple[object, list[Finding]]:
    """Return the descriptor, and the findings about the text that contains it, which exist if it is not strict JSON."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        value = dump(mode="json", by_alias=True)
    whole = dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
    result = reply_result(whole)
    if result is None:
        return whole, []
    found = find_descriptor(result)
    if found is None:
        raise AssertionError("there is no descriptor in this result: it was not offloaded")
    return found.value, [not_strict(*problem, found.pointer) for problem in problems(found.sources)]


def _message(findings: Iterable[Finding]) -> str:
    lines = [str(finding) for finding in findings]
    count = "1 finding" if len(lines) == 1 else f"{len(lines)} findings"
    return "\n".join([f"not a valid descriptor, {count}:", *(f"  {line}" for line in lines)])
