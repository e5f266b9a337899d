"""The experiments: each drives servers under chosen settings and returns what happened. None of them judges."""
