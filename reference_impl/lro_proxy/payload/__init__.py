"""Any tool result as records."""
