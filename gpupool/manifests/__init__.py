"""Plain Kubernetes manifests of any origin: found, read as kubectl reads them, sorted by kind."""
