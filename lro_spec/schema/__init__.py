"""JSON Schema: the bundled schemas, and evaluation of untrusted schemas."""
