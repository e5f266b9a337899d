"""Tools for an assistant without a shell, which read offloaded files or shorten conversations."""
