"""Test vectors: the specification as data, and the judgement of answers to them."""
