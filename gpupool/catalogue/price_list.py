"""AWS price list: queries and on-demand prices, as Karpenter reads them.

Source: Karpenter's AWS provider v1.14.1, `pkg/providers/pricing/pricing.go`.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

SERVICE = "AmazonEC2"
CHINA, GOVERNMENT = "cn-", "us-gov-"
_COMMON_FILTERS = {
    "serviceCode": SERVICE,
    "preInstalledSw": "NA",
    "operatingSystem": "Linux",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}
_FILTERS_BY_KIND = (
    {"tenancy": "Shared", "productFamily": "Compute Instance"},
    {"tenancy": "Dedicated", "productFamily": "Compute Instance (bare metal)"},
)
_LIST_REGIONS = {"ap-": "ap-south-1", CHINA: "cn-northwest-1", "eu-": "eu-central-1"}
_DEFAULT_LIST_REGION = "us-east-1"


def get_currency(region: str) -> str:
    """Return the currency of a region's prices."""
    return "CNY" if region.startswith(CHINA) else "USD"


def describe_contents(region: str) -> str:
    """Return a description of a region's price list."""
    return f"on-demand prices in {region}, {get_currency(region)}"


def find_list_region(region: str) -> str:
    """Return the region whose price list Karpenter queries for a region; only a few have one."""
    return next(
        (list_region for prefix, list_region in _LIST_REGIONS.items() if region.startswith(prefix)),
        _DEFAULT_LIST_REGION,
    )


def build_filters(region: str) -> list[list[dict[str, str]]]:
    """Build the filters of each query: virtual instances, then bare metal."""
    return [
        [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in {"regionCode": region, **_COMMON_FILTERS, **kind}.items()
        ]
        for kind in _FILTERS_BY_KIND
    ]


def read_prices(entries: Iterable[str], region: str) -> dict[str, float]:
    """Read the price of each type from the entries of a price list; later ones replace earlier ones.

    Raises:
        ValueError: for an entry with an unknown format.
    """
    unit = get_currency(region)
    try:
        return {
            name: price
            for entry in entries
            for name, price_text in _list_prices(json.loads(entry), unit)
            if 0 < (price := _to_number(price_text)) < math.inf
        }
    except (AttributeError, TypeError, ValueError):
        message = "AWS's price list has an unknown format"
        raise ValueError(message) from None


def _list_prices(entry: dict[str, Any], unit: str) -> Iterator[tuple[str, str]]:
    name = entry.get("product", {}).get("attributes", {}).get("instanceType", "")
    for term in entry.get("terms", {}).get("OnDemand", {}).values() if name else ():
        for dimension in term.get("priceDimensions", {}).values():
            yield name, dimension.get("pricePerUnit", {}).get(unit, "")


def _to_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0
