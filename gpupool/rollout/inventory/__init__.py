"""Inventory of the objects that gpupool applied, kept in the cluster."""
