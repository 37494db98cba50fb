"""Formats of `gpupool status`."""
