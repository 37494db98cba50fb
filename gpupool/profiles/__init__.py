"""Profiles: partial pools with the reason for each value."""
