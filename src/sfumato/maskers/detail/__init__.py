"""Wishes for detail, as maskers keep them: bands of neighbours, and what is said where they cannot be kept."""
