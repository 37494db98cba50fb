"""Offline validation of blueprints and manifests, and its report."""
