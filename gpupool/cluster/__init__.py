"""A Kubernetes API server: connection, requests, retries, leases and CRDs."""
