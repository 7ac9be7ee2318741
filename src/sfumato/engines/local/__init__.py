"""The engine on one machine: columns kept in group order, counted by compiled kernels."""
