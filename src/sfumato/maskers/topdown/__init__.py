"""Top-down refinement: generalize, suppress and discretize in one search (papers 000 and 002)."""
