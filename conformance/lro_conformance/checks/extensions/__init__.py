"""Checks of extensions: the proxy, tools that read offloaded files, and compaction of conversations."""
