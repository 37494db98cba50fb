"""Tests of how manifests are found, read and sorted."""
