"""Tables in Spark: the cluster counts; values with counts and codes come up, no row."""
