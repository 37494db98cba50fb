"""What gpupool decides about a cluster, on the server in memory, with expectations that are worked out without gpupool."""
