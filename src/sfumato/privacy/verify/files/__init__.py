"""The files as bytes: Parquet and CSV in their one form, and plain files alone."""
