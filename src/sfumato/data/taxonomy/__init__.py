"""Trees over labels, and over intervals of numbers and dates."""
