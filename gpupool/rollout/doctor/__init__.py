"""Checks of `gpupool doctor`."""
