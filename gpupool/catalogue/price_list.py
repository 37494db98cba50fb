"""On-demand prices in the answers of AWS's price list, read as Karpenter reads them.

Source: Karpenter's AWS provider v1.14.1, `pkg/providers/pricing/pricing.go`.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

SERVICE = "AmazonEC2"
CHINA, GOVERNMENT = "cn-", "us-gov-"
_EVERYWHERE = {
    "serviceCode": SERVICE,
    "preInstalledSw": "NA",
    "operatingSystem": "Linux",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}
_KINDS = (
    {"tenancy": "Shared", "productFamily": "Compute Instance"},
    {"tenancy": "Dedicated", "productFamily": "Compute Instance (bare metal)"},
)
_PLACES = {"ap-": "ap-south-1", CHINA: "cn-northwest-1", "eu-": "eu-central-1"}
_ELSEWHERE = "us-east-1"


def currency(region: str) -> str:
    """Return the currency of a region's prices."""
    return "CNY" if region.startswith(CHINA) else "USD"


def gives(region: str) -> str:
    """Return what a region's price list is."""
    return f"on-demand prices in {region}, {currency(region)}"


def place(region: str) -> str:
    """Return the region whose price list Karpenter asks about a region; only a few have one."""
    return next((found for prefix, found in _PLACES.items() if region.startswith(prefix)), _ELSEWHERE)


def questions(region: str) -> list[list[dict[str, str]]]:
    """Return the filters of each question: machines, then bare metal."""
    return [
        [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in {"regionCode": region, **_EVERYWHERE, **kind}.items()
        ]
        for kind in _KINDS
    ]


def amounts(entries: Iterable[str], region: str) -> dict[str, float]:
    """Return the price of each type in the entries of a price list; later ones replace earlier ones.

    Raises:
        ValueError: for an entry that is not built as they are.
    """
    unit = currency(region)
    try:
        return {
            name: price
            for entry in entries
            for name, written in _prices(json.loads(entry), unit)
            if 0 < (price := _number(written)) < math.inf
        }
    except (AttributeError, TypeError, ValueError):
        message = "AWS's price list has an unknown format"
        raise ValueError(message) from None


def _prices(entry: dict[str, Any], unit: str) -> Iterator[tuple[str, str]]:
    name = entry.get("product", {}).get("attributes", {}).get("instanceType", "")
    for term in entry.get("terms", {}).get("OnDemand", {}).values() if name else ():
        for dimension in term.get("priceDimensions", {}).values():
            yield name, dimension.get("pricePerUnit", {}).get(unit, "")


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return 0
