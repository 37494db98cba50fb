"""Rendering of a blueprint to Kubernetes objects, Helm values and files."""
