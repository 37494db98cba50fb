"""Tests of `gpupool.reports.explain`."""
