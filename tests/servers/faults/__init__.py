"""Servers with one fault each: what the suite must blame, for exactly one requirement."""
