"""The screens, one module each, in the order in which a table becomes a release."""
