"""``python -m tests.golden``: writes what is said now."""

from tests.golden.kept import write

write()
