"""Claims about a release beside earlier ones."""
