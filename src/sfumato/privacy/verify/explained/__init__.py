"""What explains the table: trees, regions, codebook and centres, each recomputed from the rows."""
