"""The structure that masking must preserve: clusters found in the raw table, or a class column."""
