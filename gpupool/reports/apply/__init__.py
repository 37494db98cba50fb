"""Texts about an apply or a move: progress, result, what is not Ready."""
