"""Servers that are conformant in unusual ways: what the suite must not blame."""
