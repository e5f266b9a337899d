"""From bytes to lines to strict JSON values, and where in them something is."""
