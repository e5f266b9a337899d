"""A server process and the raw JSON-RPC lines that go in and come out of it."""
