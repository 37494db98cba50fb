"""Base class of the models, and basic field types."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from pydantic.alias_generators import to_camel

from gpupool.shapes.annotations import Matching


class Shape(BaseModel):
    """A frozen model that rejects unknown fields; its fields are camelCase, as Karpenter's are."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True)


NOT_EMPTY = Field(min_length=1)
"""A list of at least one item, as in `Annotated[list[str], NOT_EMPTY]`."""

Flag: TypeAlias = StrictBool
Whole: TypeAlias = StrictInt
Text: TypeAlias = str
NonEmpty: TypeAlias = Annotated[str, Matching(r".", "a non-empty string")]
