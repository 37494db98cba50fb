"""The base of Karpenter's types."""

from pydantic import ConfigDict

from gpupool.shapes.base import Shape


class KarpenterShape(Shape):
    """A Shape whose checks are built at first use: most commands need only some of the kinds."""

    model_config = ConfigDict(defer_build=True)
