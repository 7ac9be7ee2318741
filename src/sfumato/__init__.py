"""Publish a table of people so that nobody in it can be picked out and the groups in it can still be found."""
