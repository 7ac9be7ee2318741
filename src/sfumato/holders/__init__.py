"""Several data holders with tables of the same columns and other people: one release, and no raw row leaves its holder.

`domains`: what may be counted, by declarations alone. `holder`: what a holder answers, and what it refuses. `lines`:
how questions and answers travel, word by word. `together`: one k-anonymous release. `parts`: releases under budgets.
"""
