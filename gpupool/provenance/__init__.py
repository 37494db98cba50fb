"""Provenance of values: which layer of the blueprint sets a field, and what it is rendered to."""
