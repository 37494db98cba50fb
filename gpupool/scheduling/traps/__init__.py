"""Lint rules about unexpected instance types, limits and requirements of a NodePool."""
