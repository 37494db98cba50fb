"""Profiles: partial pools with their own prose."""
