"""Registering and running checks, the subjects that they examine, and their verdicts."""
