"""Centroids: classes of at least k records, each shown as its centre."""
