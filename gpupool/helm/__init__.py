"""Helm charts: their releases, and their values as types."""
