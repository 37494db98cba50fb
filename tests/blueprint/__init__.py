"""Tests of `gpupool.blueprint`."""
