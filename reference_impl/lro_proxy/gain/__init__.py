"""What offloading saved and cost: the record that the proxy keeps, its arithmetic, and `lro gain`."""
