"""`lro validate` in a folder of its own: what it is given, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.cli.main import main

NAME = "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
HEADER = {
    "type": "lro_header",
    "operation": "recall",
    "query": "*",
    "count": 1,
    "schema_version": "1.0",
    "timestamp": "2026-03-02T09:30:00Z",
    "estimated_tokens": 20,
    "detail": "light",
}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


GOOD = lines(HEADER, {"id": "a"})
BAD = lines({**HEADER, "count": 7}, {"id": "a"})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["validate", *arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def zstd(data: bytes) -> bytes:
    from lro_spec.jsonl.compression import _zstd  # pyright: ignore[reportPrivateUsage]

    return _zstd().compress(data)
