"""Tests of `gpupool.shapes`."""
