"""What a blueprint is called: its API version, its type, and how long its names may be."""

from typing import Final

from gpupool.shapes.compiled import Model

API_VERSION: Final = "gpupool.dev/v1alpha1"
BLUEPRINT: Final = Model("gpupool.blueprint.model", "Blueprint")
MAX_NAME: Final = 63
"""A label's value holds no more, and Karpenter makes one of each name."""
