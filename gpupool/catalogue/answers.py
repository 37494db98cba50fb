"""What an AWS account answers about the instance types of one region."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpupool.catalogue.describe import Description
from gpupool.catalogue.model import Zone


class Answers(NamedTuple):
    """One region, as an account sees it."""

    region: str
    zones: tuple[Zone, ...]
    items: Sequence[Description]
    """As in DescribeInstanceTypes; EC2 leaves out the types that the region does not have."""

    offers: Mapping[str, Sequence[str]]
    """The names of the zones that offer each type."""

    prices: Mapping[str, float] | None
    """By type; None where the price list was not to be had."""

    refusal: str
    """Why there are no prices, or nothing."""
