"""Geometric transformations (004): they keep distances and promise nothing. See docs/geometric.md."""
