"""Fuzzers that are run by hand."""
