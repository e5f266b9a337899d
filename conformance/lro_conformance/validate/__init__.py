"""`lro validate`: finds documents, detects their kinds, and prints their findings."""
