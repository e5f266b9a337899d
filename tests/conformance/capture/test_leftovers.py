"""What a register of the files is, and what a forgotten temporary file."""

from pathlib import Path

import pytest

from lro_conformance.trials.leftovers import is_register

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
RECORD = {"id": "7", "title": "How the river was crossed", "content": "By a ford, at night."}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{{"files": ["atlatl-recall-{ULID}.jsonl"]}}', True),
        (f'{{"{ULID}": 1700000000}}', True),
        (f'{{"file": "{ULID}"}}\n{{"id": "7", "title": "How the river was crossed"}}', False),
        ('{"id": "7", "title": "How the river was crossed"}', False),
        ("", False),
    ],
)
def test_a_register_names_files_and_has_nothing_of_their_records(tmp_path: Path, text: str, expected: bool) -> None:
    path = tmp_path / ".lro-index.json"
    path.write_text(text, encoding="utf-8")
    assert is_register(path, {ULID}, [RECORD]) is expected
