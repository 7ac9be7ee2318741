"""The table: its description, its taxonomies, how it comes in, its codes, and how it is written."""
