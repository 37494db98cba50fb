"""Readiness, NodeClaims, events and status of the objects that were applied."""
