"""Reports of `gpupool fit` as text and JSON."""
