"""Interpretation of captured calls and files: pure functions that checks share."""
