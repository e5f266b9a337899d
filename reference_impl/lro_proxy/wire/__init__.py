"""JSON-RPC messages as lines of bytes."""
