"""Tests of `gpupool.provenance`."""
