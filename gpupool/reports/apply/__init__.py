"""Reports on an apply or a move: progress, result, and objects that are not Ready."""
