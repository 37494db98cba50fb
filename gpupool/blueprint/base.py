"""Base of the blueprint's tables of fields."""

from gpupool.shapes.fields import Fields


class BlueprintFields(Fields):
    """Base of the tables of a blueprint and of profiles; they name types of `blueprint.types`."""

    type_names = "gpupool.blueprint.types"
