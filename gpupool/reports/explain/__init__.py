"""Formats of `gpupool explain`."""
