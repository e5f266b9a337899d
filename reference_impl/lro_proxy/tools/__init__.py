"""Tools that read offloaded files, for an assistant without a shell: their families, and the rules for all of them."""
