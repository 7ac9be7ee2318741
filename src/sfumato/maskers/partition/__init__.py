"""Partition: a tree of cuts guided by what must survive, each part shown by its own extent. Local recoding.

A value is shown finely where many people are alike and coarsely where few are, so that one small group does not coarsen
a column for everybody. Cuts are worth what they tell of the structure and what the parts would show less of.
"""
