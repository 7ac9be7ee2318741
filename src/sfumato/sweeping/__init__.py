"""Sweeps: one recipe with many settings, run side by side, and the frontier of structure kept against risk."""
