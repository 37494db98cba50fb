"""Explanations of a pool: its instance types, and its disruption calendar."""
