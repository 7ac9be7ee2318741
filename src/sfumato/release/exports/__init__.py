"""A released table in the forms of other programs: copies beside the release, each read back and counted again."""
