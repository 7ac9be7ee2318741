"""Is a masked table still useful, and how exposed is it: figures for the holder, some of them publishable."""
