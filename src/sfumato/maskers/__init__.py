"""How a table is masked: one room per family; in each, fit.py is how and the mask is what is learned."""
