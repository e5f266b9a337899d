"""``python -m tests.words``: writes what is said now."""

from tests.words.kept import write

write()
