"""Provenance: which layer of the blueprint sets a value, and what the value is rendered to."""
