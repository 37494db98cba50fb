"""Validation of blueprints and manifests, and its report."""
