"""Servers that cannot be certified, or only with trouble: the plain one, broken on the wire or as a process."""
