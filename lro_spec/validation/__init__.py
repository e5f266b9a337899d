"""Validation of descriptors, headers, records and whole files; each finding names the requirement that it breaks.

`follow` and the functions ``validate_…`` return an iterator of `Finding`. The content of a document never causes an
exception.

>>> from lro_spec.validation import validate_file
>>> for finding in validate_file("atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"):  # doctest: +SKIP
...     print(finding.line, finding.rule, finding.message)
"""

from lro_spec.findings import Excerpt, Finding, Severity
from lro_spec.jsonl.lines import MAX_LINE_BYTES
from lro_spec.schema.bundled import SCHEMA_NAMES, json_schema
from lro_spec.validation.descriptor import validate_descriptor
from lro_spec.validation.file import validate_file
from lro_spec.validation.header import validate_header
from lro_spec.validation.linked import follow
from lro_spec.validation.record import validate_line

__all__ = [
    "MAX_LINE_BYTES",
    "SCHEMA_NAMES",
    "Excerpt",
    "Finding",
    "Severity",
    "follow",
    "json_schema",
    "validate_descriptor",
    "validate_file",
    "validate_header",
    "validate_line",
]
