"""Policies: what a regulator or a house asks of a release, as lists of checks on recipe, table and release."""
