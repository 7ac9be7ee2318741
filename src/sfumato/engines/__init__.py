"""Who counts: the same questions of `sfumato.counting`, answered in loops, in kernels, on a cluster."""
