"""Servers that the suite is tried on; standard library only, and nothing of the project in them."""
