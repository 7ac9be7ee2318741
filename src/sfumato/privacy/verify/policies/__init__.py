"""Policies that a certificate says are satisfied: what each asks, in which form it is told, and what a folder shows."""
