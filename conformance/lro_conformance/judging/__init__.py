"""How checks are registered and run, the subjects that they examine, and their verdicts."""
