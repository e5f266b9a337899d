"""The report: one model, and the renderings made from it."""
