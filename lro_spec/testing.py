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

    *value* is a descriptor, or the result of a tool call that contains one: as parsed JSON (with ``content`` or
    ``structuredContent``, also in its JSON-RPC reply), or as an object of the official SDK. With *follow*, the
    descriptor's file is opened and validated, too. Raises `AssertionError` with a line for each finding, including
    warnings unless they are allowed, or if the result has no descriptor; and `ValueError` for an unknown edition.
    """
    __tracebackhide__ = True
    descriptor, ambiguities = _descriptor(value)
    check = followed if follow else validate_descriptor
    findings = [f for f in check(descriptor, edition=edition) if not (allow_warnings and f.severity == "warning")]
    findings = ambiguities or findings  # if readers disagree about the text, nothing else is certain
    if findings:
        raise AssertionError(_message(findings))
    return cast("dict[str, Any]", descriptor)


def _descriptor(value: object) -> tuple[object, list[Finding]]:
    """The descriptor, and findings about the text that contains it if that is not strict JSON."""
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
