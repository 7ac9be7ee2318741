"""A recipe proposed from a table, with a reason for each guess."""
