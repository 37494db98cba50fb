"""Reports of `gpupool explain` as text, JSON and SVG."""
