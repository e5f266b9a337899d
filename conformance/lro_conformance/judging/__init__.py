"""Checks, their subjects, and verdicts."""
