"""Build of gpupool as one file, which needs nothing but Python."""
