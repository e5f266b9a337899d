"""Output of processes in messages."""

from __future__ import annotations

import pytest

from lro_spec.display import error_line


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("", ""),
        ("listening\n\n─────", "listening"),
        ("Traceback\n    raise ValueError('a')\nValueError: a", "ValueError: a"),
        ("MemoryError: a\nDuring handling of the above exception, another exception occurred:\nb", "MemoryError: a"),
        ("thread 'main' panicked at src/main.rs:2:5:\nno\nnote: x", "thread 'main' panicked at src/main.rs:2:5:"),
        ("Error: EISDIR: a directory\n    at main (x.js:1)\n  syscall: 'unlink'", "Error: EISDIR: a directory"),
        ("Usage: x\n╭─ Error ──╮\n│ Missing   command. │\n╰──────────╯", "│ Missing command. │"),
    ],
)
def test_the_line_that_names_an_error_is_found_among_what_follows_it(stderr: str, said: str) -> None:
    assert error_line(stderr.splitlines()) == said
