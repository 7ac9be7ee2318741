"""A genetic search for a recoding, a competitor named by 002.

Iyengar, "Transforming data to satisfy privacy constraints", 2002: cuts are bit strings that are crossed and
mutated, and a record whose group is too small is suppressed, at a price. His own runs took 18 hours; this is
a small implementation on a time limit. What it finds is a Recoding, as top-down refinement's.
"""
