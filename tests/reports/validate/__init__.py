"""Tests of `gpupool.reports.validate`."""
