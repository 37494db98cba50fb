"""Formats of `gpupool validate`."""
