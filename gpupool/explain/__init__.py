"""Explanation of one pool: its instance types, and its calendar of disruption."""
