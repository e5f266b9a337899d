"""Savings and costs of offloading: the record that the proxy keeps, its arithmetic, and `lro gain`."""
