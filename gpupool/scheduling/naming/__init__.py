"""Checks of instance type, zone and accelerator names, with close matches for typos."""
