"""Readiness, NodeClaims, events and status of applied objects."""
