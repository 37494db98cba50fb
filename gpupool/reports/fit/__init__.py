"""Formats of `gpupool fit`."""
