"""Names of the blueprint API: its version, its model, and the maximum length of object names."""

from typing import Final

from gpupool.shapes.compiled import Model

API_VERSION: Final = "gpupool.dev/v1alpha1"
BLUEPRINT: Final = Model("gpupool.blueprint.model", "Blueprint")
MAX_NAME: Final = 63
"""The maximum length of a label value; Karpenter uses each name as one."""
