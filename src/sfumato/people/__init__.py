"""The recipient's side: a release as the people in it, with numbers as numbers."""
