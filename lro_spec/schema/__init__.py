"""JSON Schema: the bundled schemas, and schemas that other people wrote."""
