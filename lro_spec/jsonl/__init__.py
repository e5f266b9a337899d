"""Reading of JSONL: from bytes to lines to strict JSON values, with positions."""
