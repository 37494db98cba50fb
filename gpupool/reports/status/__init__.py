"""Reports of `gpupool status` as text and JSON."""
