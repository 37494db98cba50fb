"""Disruption windows in local time compiled to UTC budgets."""
