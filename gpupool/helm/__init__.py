"""Typed values of each chart that gpupool writes for."""
