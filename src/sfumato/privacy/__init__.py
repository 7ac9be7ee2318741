"""What must hold of a release, and whether it does."""
