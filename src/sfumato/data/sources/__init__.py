"""Sources: where the rows of a table live. `source` is what all of them answer, `openers` which one it is."""
