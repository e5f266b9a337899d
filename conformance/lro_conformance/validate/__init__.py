"""The command `lro validate`: it finds documents, detects their kinds, validates them and prints the findings."""
