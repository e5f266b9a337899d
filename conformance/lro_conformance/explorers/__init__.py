"""Explorers: trials that Hypothesis drives, on live servers."""
