"""Compilation of disruption windows in local time to UTC budgets."""
