"""Servers that try to hang, bloat, mislead or misuse the suite."""
