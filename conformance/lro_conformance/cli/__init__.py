"""The commands of `lro`."""
