"""Tables generated from noisy counts, under differential privacy (003, made sound)."""
