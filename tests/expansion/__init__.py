"""Tests of `gpupool.expansion`."""
