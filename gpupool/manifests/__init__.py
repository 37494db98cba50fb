"""Reading of plain Kubernetes manifests: files, folders, Karpenter objects and workloads."""
