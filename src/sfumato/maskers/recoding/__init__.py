"""One cut for everybody: the mask that top-down refinement, the genetic search and suppression give."""
