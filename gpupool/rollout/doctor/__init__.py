"""The checks of `gpupool doctor`."""
