"""Catalogue of EC2 instance types, their accelerators, zones and prices."""
