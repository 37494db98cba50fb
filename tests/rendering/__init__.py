"""Tests of `gpupool.rendering`."""
