"""Property tests: Hypothesis on live servers."""
