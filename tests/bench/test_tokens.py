"""Token counts, held to tiktoken with the same vocabulary."""

from __future__ import annotations

import pytest

from lro_bench.corpus import corpus
from lro_bench.tokens import count_by
from tests.support.bench import PATTERNS, independent_encoding


@pytest.mark.parametrize("vocabulary", PATTERNS)
def test_counts_are_those_of_tiktoken(vocabulary: str) -> None:
    encoding = independent_encoding(vocabulary)
    large = b"\n".join(corpus(500).lines).decode()
    for text in ("", "hello world", "Zoë's 漢字 <|endoftext|>\n\n  x", large, large.replace("\n", ",")):
        assert count_by(vocabulary, text) == len(encoding.encode_ordinary(text))


def test_characters_are_counted_by_fours() -> None:
    assert [count_by("characters/4", text) for text in ("", "abc", "abcde")] == [0, 1, 2]
