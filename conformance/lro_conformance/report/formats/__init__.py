"""The renderings of a report: one module a format."""
