"""Put EC2's answers and Karpenter's tables together."""

from functools import cache

from catalogue.sources import instance_types, offerings, regions, retired, zones
from catalogue.tables import BANDWIDTH_DATE, KARPENTER, limits, limits_date, prices
from catalogue.wheels import CURRENT, OLDER
from gpupool.catalogue.assemble import CatalogueOrigin, RegionOffers, assemble_catalogue
from gpupool.catalogue.describe import NO_LIMITS, read_facts
from gpupool.catalogue.model import Catalogue, CatalogueSource, Value
from gpupool.catalogue.price_list import describe_contents


@cache
def made() -> Catalogue:
    """Make the catalogue that is shipped."""
    table = limits()
    gone = retired()
    types: dict[str, dict[str, Value]] = {
        name: {**read_facts(item, table.get(name, NO_LIMITS)), "retired": gone.get(name)}
        for name, item in instance_types().items()
    }
    places = {region: RegionOffers(tuple(zones(region)), offerings(region)) for region in regions()}
    unlisted = {name: each for name, each in table.items() if not name.startswith("mac")}
    return assemble_catalogue(
        types, places, prices(), unlisted, CatalogueOrigin(KARPENTER, CURRENT.date, _sources())
    )


def _sources() -> tuple[CatalogueSource, ...]:
    karpenter = "Karpenter's AWS provider"
    return (
        CatalogueSource(
            "moto",
            CURRENT.version,
            CURRENT.date,
            "EC2's instance types, and the zones that offer them",
        ),
        *(
            CatalogueSource("moto", wheel.version, wheel.date, "EC2's types that it has retired since")
            for wheel in OLDER
        ),
        CatalogueSource(karpenter, KARPENTER, BANDWIDTH_DATE, "network bandwidth"),
        CatalogueSource(karpenter, KARPENTER, limits_date(), "interfaces for pods, addresses for Windows"),
        *(
            CatalogueSource(karpenter, KARPENTER, each.date, describe_contents(each.region))
            for each in prices()
        ),
    )
