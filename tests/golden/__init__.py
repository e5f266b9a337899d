"""What the library says of many small inputs, word for word: kept in tests/golden/data.

Each input lies on one side of some edge. After a change that is meant, ``python -m tests.golden`` writes the files
again, and the difference is there to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Said = Callable[[], list[str]]
"""What is said of one input."""

Cases = Mapping[str, Said]
