"""Checks of extensions: the proxy, and tools that read offloaded files."""
