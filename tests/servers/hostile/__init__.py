"""Servers that try to hang, bloat, mislead or misuse whoever judges them."""
