"""Tests of `gpupool.explain`."""
