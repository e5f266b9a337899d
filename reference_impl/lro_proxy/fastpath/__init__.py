"""Large results, read from the bytes of their line."""
