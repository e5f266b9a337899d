"""`lro validate`: which documents, of which kind, and how findings are printed."""
