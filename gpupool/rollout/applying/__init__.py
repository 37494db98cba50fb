"""Application of a plan: writes, deletions, moves and their results."""
