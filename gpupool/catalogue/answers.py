"""Instance types, offers and prices of one region, as an AWS account sees them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpupool.catalogue.describe import Description
from gpupool.catalogue.model import Zone


class RegionAnswers(NamedTuple):
    """One region, as an account sees it."""

    region: str
    zones: tuple[Zone, ...]
    items: Sequence[Description]
    """Types as in DescribeInstanceTypes; EC2 omits those that the region does not offer."""

    offers: Mapping[str, Sequence[str]]
    """The names of the zones that offer each type."""

    prices: Mapping[str, float] | None
    """Prices by type; None if the price list is not available."""

    price_error: str
    """Why there are no prices; empty if there are."""
