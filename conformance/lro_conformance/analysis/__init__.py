"""Interpretation of captured calls and files, by pure functions that are shared by checks."""
