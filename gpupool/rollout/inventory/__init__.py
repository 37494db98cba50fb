"""The inventory: the list of the objects that gpupool applied, kept in the cluster."""
