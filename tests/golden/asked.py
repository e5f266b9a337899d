"""Calls of tools that are no operations, made up: what was answered, and with which file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

from lro_conformance.capture.call import Call, descriptor_in
from lro_conformance.capture.file import FileSeen
from lro_conformance.trials.extensions.payloads import dumps
from tests.golden.evidence import Told

OUT = Path("/out")
START: Any = Made(settings={}, env={}, argv=("serve",), output_dir=OUT, lines={}, folder="")


def asked(
    operation: str,
    result: Any = None,
    file: FileSeen | None = None,
    *,
    arguments: Mapping[str, Any] | None = None,
    error: Any = None,
    failure: Any = None,
    raw: bytes | None = None,
) -> Call:
    """A call of a tool and its answer."""
    sent = dumps(result).encode() if raw is None and result is not None else raw
    reply: Any = Made(result=result, error=error, raw=sent, failure=failure, request=operation.encode(), id=7)
    seen = (reply, 0.0, 1.0, 0, file, OUT, descriptor_in(reply))
    return Told(operation, operation, arguments or {}, None, None, None, START, (), *seen)


def text(said: str, **more: Any) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": said}], **more}


def descriptor(path: str, recipes: Any = (), **more: Any) -> dict[str, Any]:
    """A result that names a file."""
    value = {
        "offloaded": True, "summary": {"count": 1, "estimated_tokens": 9}, "file_path": path, "line_schema": {},
        "jq_recipes": list(recipes), "guidance": "g",
    }  # fmt: skip
    return text(json.dumps(value), **more)


def lines_of(*lines: str | bytes, header: Mapping[str, Any] | None = None) -> bytes:
    """A file of these lines, below a header that counts them."""
    first = dumps({"type": "lro_header", "count": len(lines), **(header or {})})
    return b"".join((x.encode() if isinstance(x, str) else x) + b"\n" for x in (first, *lines))


def filed(path: str, data: bytes = b"", **more: Any) -> FileSeen:
    """A file that was read."""
    return FileSeen(path, data=data, real_path=path, **more)
